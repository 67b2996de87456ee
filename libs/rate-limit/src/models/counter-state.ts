import type { BucketState } from './bucket';
import type { LogState } from './log';
import type { QueueState } from './queue';
import type { PenaltyState } from './penalty';
import type { QuotaCount } from './quota';
import type { SlidingCounterState } from './sliding-counter';
import type { RetryState } from './retry';
import type { SlotsState } from './slots';
import type { WindowState } from './window';

/** What a counter of each kind holds. */
export interface StateByKind {
  bucket: BucketState;
  window: WindowState;
  quota: QuotaCount;
  counter: SlidingCounterState;
  log: LogState;
  queue: QueueState;
  slot: SlotsState;
  retry: RetryState;
  penalty: PenaltyState;
}

export type CounterState = StateByKind[keyof StateByKind];
