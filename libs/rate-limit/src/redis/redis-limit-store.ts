import type { Redis } from 'ioredis';
import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';

export interface RedisLimitStoreOptions {
  /** A client made by `connectLimitRedis`: others may queue or resend commands, which would break the deadline. */
  readonly redis: Redis;
  /** Replaces Redis TIME, in ms; release builds never pass it. */
  readonly testClock?: () => number;
  /** Most checks in one call. */
  readonly maxBatch?: number;
}

/** Counters in Redis: neighbouring checks share one script call. */
export class RedisLimitStore implements LimitStore {
  constructor(private readonly options: RedisLimitStoreOptions) {}

  judgeAndSpend(_check: Check, _deadlineAtMs: number): Promise<Verdict> {
    return Promise.resolve({ status: 'unavailable', cause: 'disconnected', detail: this.options.redis.status });
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.judgeAndSpend(check, deadlineAtMs);
  }

  refund(_charges: readonly AdmittedCharge[], _deadlineAtMs: number): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
