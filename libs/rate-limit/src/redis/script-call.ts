import type { LimitRedis } from './connect-limit-redis';
import { SCRIPTS, type ScriptName } from '../lua/scripts.generated';
import type { ScriptInput } from './encoded-batch';

/**
 * Calls a script by its hash. A store that lost its scripts gets the source in a second call, which nobody else sees (P08).
 * Nothing was run before NOSCRIPT, so that nothing is spent twice.
 */
export const callScript = (redis: LimitRedis, name: ScriptName, { keys, args }: ScriptInput): Promise<unknown> =>
  redis.evalsha(SCRIPTS[name].sha1, keys.length, ...keys, ...args).catch((error: unknown) => {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(SCRIPTS[name].source, keys.length, ...keys, ...args);
  });
