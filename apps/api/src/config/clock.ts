import { Injectable } from '@nestjs/common';

/** Where services read the time from, so that a spec can set it. Limits and quotas use the store's clock instead. */
@Injectable()
export class Clock {
  /** Whole milliseconds since the epoch. */
  now(): number {
    return Date.now();
  }
}
