import type { BucketState } from './bucket';
import type { QuotaCount } from './quota';
import type { SlidingCounterState } from './sliding-counter';
import type { WindowState } from './window';

/** What a counter of each kind holds. */
export interface StateByKind {
  bucket: BucketState;
  window: WindowState;
  quota: QuotaCount;
  counter: SlidingCounterState;
}

export type CounterState = StateByKind[keyof StateByKind];
