import type { FlushOptions } from './flush-loop';
import type { UsageRedis } from './usage-redis';

/** Options of the statistics by minute. */
export interface MinuteLogOptions extends FlushOptions {
  readonly redis: UsageRedis;
  /** Store time in ms. */
  readonly storeNow: () => number;
  /** Told of counts that found no room, or that no flush could bring to the store. */
  readonly onDropped?: (count: number) => void;
}

export const minuteOf = (ms: number): number => Math.floor(ms / 60_000);
