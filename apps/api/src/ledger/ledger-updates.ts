import { Inject, Injectable } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { deleteTouches, readTouches } from './base-sql';
import { QuotaBases } from './quota-bases';
import { ThresholdWatch } from './threshold-watch';
import { touchUsage, type TouchedPeriod } from './touch-usage';

const TOUCHES_PER_RUN = 2_000;

/** What follows from changed figures: bases in Redis, so that guards count on from the ledger, and thresholds. Harmless to repeat, so that whoever comes after a crash does it again. */
@Injectable()
export class LedgerUpdates {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(QuotaBases) private readonly bases: QuotaBases,
    @Inject(ThresholdWatch) private readonly thresholds: ThresholdWatch,
  ) {}

  /** @param folded what a fold has just committed; its journals are acknowledged only when this is done */
  async follow(folded: readonly TouchedPeriod[]): Promise<void> {
    const touches = await readTouches(this.prisma, TOUCHES_PER_RUN);
    const touched = [...new Map([...folded, ...touches].map(({ tenant, periodId }) => [`${tenant}|${periodId}`, { tenant, periodId }])).values()];
    if (touched.length === 0) return;
    const [seconds] = await this.redis.time();
    const figures = await this.bases.publish(touched, Number(seconds) * 1000);
    const left = await this.thresholds.look(figures);
    if (left.length === 0 && touches.length === 0) return;
    await this.prisma.transaction(async (tx) => {
      await touchUsage(tx, left);
      await deleteTouches(tx, touches.map(({ id }) => id));
    });
  }
}
