/** What the process is started with. */
export interface EchoSettings {
  readonly redisUrl: string;
  readonly port: number;
  /** Takes the last usage when this process ends while Redis is away. */
  readonly platform?: { readonly url: string; readonly token: string };
  /** Longest wait for the store per decision in ms; the guard's default when left out. No variable sets it: specs on busy machines do. */
  readonly storeBudgetMs?: number;
}

/** A setting that echo cannot start with; the message is the one line that says what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

const DEFAULT_PORT = '3001';
const PORT_MAX = 65_535;

/**
 * Reads `QUOTAPLANE_GUARD_REDIS_URL`, else `REDIS_URL`, and `ECHO_PORT`; `QUOTAPLANE_URL` and `QUOTAPLANE_TOKEN` where both are set; nothing else.
 * @throws {SettingError}
 */
export function readSettings(env: NodeJS.ProcessEnv): EchoSettings {
  const redisUrl = env['QUOTAPLANE_GUARD_REDIS_URL'] || env['REDIS_URL'];
  if (!redisUrl) throw new SettingError('echo: set REDIS_URL to the Redis of the platform, such as redis://127.0.0.1:6379');
  if (!redisUrl.split(',').every((one) => /^rediss?:\/\//.test(one.trim()) && URL.canParse(one.trim()))) {
    throw new SettingError('echo: REDIS_URL must be a redis:// or rediss:// URL, or several of one cluster parted by commas');
  }
  const text = env['ECHO_PORT'] || DEFAULT_PORT;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) throw new SettingError(`echo: ECHO_PORT must be a port from 0 to ${PORT_MAX}, not ${text}`);
  const [url, token] = [env['QUOTAPLANE_URL'], env['QUOTAPLANE_TOKEN']];
  return { redisUrl, port, ...(url && token ? { platform: { url, token } } : {}) };
}
