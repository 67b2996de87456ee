import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';

export interface InProcessLimitStoreOptions {
  /** Most counters kept; a new one past it is denied. */
  readonly maxCounters: number;
  /** Store time in ms. */
  readonly now: () => number;
}

/** Counters of one process on the same models as the script. Heads are not asked: there is nobody who could publish another one. */
export class InProcessLimitStore implements LimitStore {
  constructor(private readonly options: InProcessLimitStoreOptions) {}

  judgeAndSpend(_check: Check, _deadlineAtMs: number): Promise<Verdict> {
    return Promise.resolve({ status: 'outside', nowMs: this.options.now() });
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
