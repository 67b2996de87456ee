import { Inject, Injectable } from '@nestjs/common';
import { MINUTE_STATS_TTL_MS } from '@quotaplane/contracts';
import { minuteOf, readTrafficMinute } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { upsertTraffic } from './fold-sql';

const MINUTES_KEPT = Math.floor(MINUTE_STATS_TTL_MS / 60_000);
/** A node that was cut off may still add to the minute before. */
const MINUTES_OPEN = 2;

/** Folds the minute counters into Postgres, for charts. Overwriting with the larger count, so that repeats are harmless. */
@Injectable()
export class TrafficFold {
  private foldedUpTo: number | undefined;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(REDIS) private readonly redis: Redis) {}

  async run(): Promise<void> {
    const [seconds] = await this.redis.time();
    const current = minuteOf(Number(seconds) * 1000);
    // The first run of a worker takes all that Redis still has, for the worker may have been away.
    const from = Math.max(current - MINUTES_KEPT, (this.foldedUpTo ?? 0) - MINUTES_OPEN);
    for (let minute = from; minute <= current; minute += 1) {
      const rows = await readTrafficMinute(this.redis, minute);
      if (rows.length > 0) await this.prisma.transaction((tx) => upsertTraffic(tx, new Date(minute * 60_000), rows));
    }
    this.foldedUpTo = current;
  }
}
