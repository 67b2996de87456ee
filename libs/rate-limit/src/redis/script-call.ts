import { Command } from 'ioredis';
import type { LimitRedis } from './connect-limit-redis';
import { SCRIPTS, type ScriptName } from '../lua/scripts.generated';
import type { ScriptInput } from './encoded-batch';
import { wireText } from './wire-text';

/** A script call without its script, written already: ioredis takes longer over each argument than the store does. */
export interface ScriptText {
  readonly keyCount: number;
  readonly argCount: number;
  /** By which a cluster finds the server; all keys lie in its slot. */
  readonly firstKey: string;
  /** Keys and arguments as they stand on the wire. */
  readonly text: string;
}

const NUMBERS = { replyEncoding: null } as const;
/** Script, number of keys, first key: what ioredis may look at. Copied by it. */
const shown: [script: string, keyCount: number, firstKey: string] = ['', 1, ''];

const shownArgs = (script: string, { firstKey }: ScriptText): typeof shown => {
  shown[0] = script;
  shown[2] = firstKey;
  return shown;
};

/** ioredis sees the first key and no other argument; what it writes is the whole call. Replies are numbers, which nobody has to walk over for texts. */
class WrittenCommand extends Command {
  constructor(name: 'evalsha' | 'eval', private readonly script: string, private readonly call: ScriptText) {
    super(name, shownArgs(script, call), NUMBERS);
  }

  override toWritable(): string {
    const { keyCount, argCount, text } = this.call;
    return `*${3 + keyCount + argCount}\r\n${wireText(this.name, this.script, keyCount)}${text}`;
  }
}

/**
 * Calls a script by its hash. A store that lost its scripts gets the source in a second call, which nobody else sees (P08).
 * Nothing was run before NOSCRIPT, so that nothing is spent twice.
 */
export const callScript = (redis: LimitRedis, name: ScriptName, { keys, args }: ScriptInput): Promise<unknown> =>
  redis.evalsha(SCRIPTS[name].sha1, keys.length, ...keys, ...args).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return redis.eval(SCRIPTS[name].source, keys.length, ...keys, ...args);
  });

/** The same for a call that is written already, and whose reply is numbers. */
export const callWritten = (redis: LimitRedis, name: ScriptName, call: ScriptText): Promise<unknown> =>
  sent(redis, new WrittenCommand('evalsha', SCRIPTS[name].sha1, call)).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return sent(redis, new WrittenCommand('eval', SCRIPTS[name].source, call));
  });

const sent = (redis: LimitRedis, command: WrittenCommand): Promise<unknown> => {
  redis.sendCommand(command);
  return command.promise;
};

const isMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');
