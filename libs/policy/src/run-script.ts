import { SCRIPTS, type ScriptName } from './lua/scripts.generated';
import type { PolicyRedis } from './policy-redis';

/** Runs an embedded script by its hash and sends its text only where the store does not know it (after a restart or SCRIPT FLUSH). */
export async function runScript(redis: PolicyRedis, name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
  const script = SCRIPTS[name];
  try {
    return await redis.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(script.source, keys.length, ...keys, ...args);
  }
}
