import { Inject, Injectable } from '@nestjs/common';
import { writeQuotaBase, type QuotaBaseFigures } from '@quotaplane/rate-limit';
import type { Redis } from 'ioredis';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { readPolicyRows } from '../outbox/policy-rows';
import type { MeterFigures } from '../usage/meter-figures';
import { UsageLedger } from '../usage/usage-ledger';
import { readUsageSums, type UsageSumRow } from '../usage/usage-sql';
import { periodsByTenant, readLivePeriods, readPeriods, type DuePeriod } from './base-sql';
import type { TouchedPeriod } from './touch-usage';

const NONE = new Map<string, number>();
const BASES_AT_ONCE = 250;

/** What is known of touched periods, read once for all that follows. */
export interface TouchedFigures {
  readonly periods: readonly DuePeriod[];
  /** Of these periods alone. */
  readonly sums: readonly UsageSumRow[];
}

/**
 * Writes to Redis what a quota's counter does not know: used = counter + plus - minus (M3). plus = admitted and recovered by generations before this
 * one, records, what outages gave away as far as it counts, and what this generation's counter has lost; minus = what those generations refunded,
 * and corrections. Each figure only grows there, so that no order of writers and no crash can take anything back.
 */
@Injectable()
export class QuotaBases {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
  ) {}

  /** After a fold, or another change of figures, is committed. @returns the figures that were read for it */
  async publish(touched: readonly TouchedPeriod[], nowMs: number): Promise<TouchedFigures> {
    const { bases, periods, sums } = await this.basesOf(this.prisma, touched, NONE);
    await this.write(bases, nowMs);
    return { sums, periods };
  }

  /**
   * Before the head of a new generation: a guard that meets the head must meet the base. Called under the tenants' row locks.
   * @param raised the coming generation, by tenant
   */
  async publishRaised(tx: Tx, raised: ReadonlyMap<string, number>, nowMs: number): Promise<void> {
    if (raised.size === 0) return;
    const live = await readLivePeriods(tx, [...raised.keys()], new Date(nowMs));
    await this.write((await this.basesOf(tx, live, raised)).bases, nowMs);
  }

  private async basesOf(
    db: PrismaService | Tx, touched: readonly TouchedPeriod[], raised: ReadonlyMap<string, number>,
  ): Promise<TouchedFigures & { readonly bases: readonly QuotaBaseFigures[] }> {
    const periods = touched.length === 0 ? [] : await readPeriods(db, touched);
    if (periods.length === 0) return { bases: [], periods: [], sums: [] };
    const generations = new Map(periods.map(({ tenant, generation }) => [tenant, raised.get(tenant) ?? generation]));
    const byKey = new Map(periods.map((period) => [`${period.tenant}|${period.periodId}`, period]));
    const sums = (await readUsageSums(db, [...generations.keys()], periods.map(({ periodId }) => periodId), generations))
      .filter((row) => byKey.has(`${row.tenant}|${row.periodId}`));
    const settled = await this.settledOf(db, sums, byKey);
    const bases = sums.flatMap((row): QuotaBaseFigures[] => {
      const period = byKey.get(`${row.tenant}|${row.periodId}`);
      const generation = generations.get(row.tenant);
      const plus = row.before.admitted + row.before.recovered + row.external + row.late + row.gap + settled(row);
      const minus = row.before.refunded + row.corrections;
      if (!period || generation === undefined || (plus === 0n && minus === 0n)) return [];
      const { tenant, meter, periodId, part } = row;
      return [{ tenant, meter, periodId, part, generation, plus, minus, periodEndMs: period.endAt.getTime() }];
    });
    return { bases, periods, sums };
  }

  /** What counts of the units that were admitted without the store; only tenants that have some are worked out. */
  private async settledOf(db: PrismaService | Tx, sums: readonly UsageSumRow[], byKey: ReadonlyMap<string, DuePeriod>): Promise<(row: UsageSumRow) => bigint> {
    const affected = sums.filter(({ degraded }) => degraded > 0n);
    if (affected.length === 0) return () => 0n;
    const tenants = await readPolicyRows(db, [...new Set(affected.map(({ tenant }) => tenant))], { overrides: 'all', now: new Date() });
    const periods = periodsByTenant(affected.flatMap(({ tenant, periodId }) => byKey.get(`${tenant}|${periodId}`) ?? []));
    const figures = await this.ledger.figuresOf(tenants, periods, { db, sums: affected });
    const nameOf = (tenant: string, periodId: string, meter: string, part: number): string => [tenant, periodId, meter, part].join('|');
    const found = new Map(figures.flatMap(({ tenant, meter, period, parts }: MeterFigures) =>
      parts.map(({ part, settled }): [string, bigint] => [nameOf(tenant, period.id, meter, part), settled])));
    return (row) => found.get(nameOf(row.tenant, row.periodId, row.meter, row.part)) ?? 0n;
  }

  private async write(bases: readonly QuotaBaseFigures[], nowMs: number): Promise<void> {
    failpoint('base.before-write');
    for (let from = 0; from < bases.length; from += BASES_AT_ONCE) {
      // In portions: ten thousand calls that wait in Redis behind each other would hold the guards' checks up.
      await Promise.all(bases.slice(from, from + BASES_AT_ONCE).map((base) => writeQuotaBase(this.redis, base, nowMs)));
    }
  }
}
