import type { LimitRedis } from '@quotaplane/rate-limit';
import { Cluster, type RedisOptions } from 'ioredis';

export interface ConnectionLogOptions {
  /** Takes one line of text; never holds the password. */
  readonly write: (line: string) => void;
  /** Monotonic ms. */
  readonly now?: () => number;
}

/** Between two lines on one outage whose reason stays the same. */
const REPEAT_MS = 60_000;
/** Answers and errors that come from the settings and do not heal by waiting. */
const SETTINGS_FAULT = /^(NOAUTH|WRONGPASS|NOPERM|ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const MEANWHILE = 'until it answers, calls are decided by the fail mode of their class, and by defaultLimits where no policy was seen';

/**
 * Says why the guard's Redis cannot be used: at once, at once again for each new reason, and then once a minute with the number of failed attempts;
 * and once when it is back. Without these lines a service with a wrong address looks healthy and enforces its default limits.
 */
export class ConnectionLog {
  private readonly address: string;
  private readonly said = new Set<string>();
  private reason: string | undefined;
  private downSinceMs: number | undefined;
  private saidAtMs = 0;
  private failures = 0;
  private isStopped = false;

  /** @param redis watched from now on: made in the same tick, or its first failure may be missed */
  constructor(redis: LimitRedis, private readonly options: ConnectionLogOptions) {
    const connection: RedisOptions = redis instanceof Cluster ? (redis.options.redisOptions ?? {}) : redis.options;
    const { host, port, password } = connection;
    // Its nodes come and go; the connections to them speak for themselves.
    this.address = redis instanceof Cluster ? 'cluster' : `${host?.includes(':') ? `[${host}]` : host}:${port}`;
    redis.on('error', (error: unknown) => (this.reason = reasonOf(error, password)));
    redis.on('close', () => this.failed());
    redis.on('ready', () => this.ready());
  }

  /** From now on the connection is closed on purpose. */
  stop(): void {
    this.isStopped = true;
  }

  private failed(): void {
    if (this.isStopped) return;
    const reason = this.reason ?? 'the connection was closed or gave no answer';
    this.reason = undefined;
    this.failures += 1;
    const nowMs = this.now();
    const isNew = !this.said.has(reason);
    if (!isNew && nowMs - this.saidAtMs < REPEAT_MS) return;
    const hint = SETTINGS_FAULT.test(reason) ? '; check redisUrl' : '';
    const attempts = this.failures === 1 ? '' : ` (${this.failures} attempts failed, for ${seconds(nowMs - (this.downSinceMs ?? nowMs))})`;
    this.downSinceMs ??= nowMs;
    this.said.add(reason);
    this.saidAtMs = nowMs;
    this.options.write(`Redis ${this.address} cannot be used: ${reason}${hint}${attempts}; ${MEANWHILE}`);
  }

  private ready(): void {
    this.reason = undefined;
    if (this.downSinceMs === undefined || this.isStopped) return;
    this.options.write(`Redis ${this.address} is back after ${seconds(this.now() - this.downSinceMs)} (${this.failures} attempts failed)`);
    this.downSinceMs = undefined;
    this.failures = 0;
    this.said.clear();
  }

  private now(): number {
    return this.options.now?.() ?? performance.now();
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** The system's code, or the server's own words. */
function reasonOf(error: unknown, password: string | undefined | null): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const text = code ?? error.message.replace(/^Ready check failed: /, '').replace(/\.$/, '');
  return password ? text.replaceAll(password, '***') : text;
}
