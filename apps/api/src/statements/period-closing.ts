import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type PeriodClosed } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { AppConfig } from '../config/app-config';
import { Clock } from '../config/clock';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { recordEvents } from '../events/record-events';
import { notFound } from '../http/caller';
import { Reconciliation } from '../ledger/reconciliation';
import { readPolicyRows } from '../outbox/policy-rows';
import { finaliseQuotas } from '../quotas/finalise-quotas';
import type { MeterFigures } from '../usage/meter-figures';
import { UsageLedger } from '../usage/usage-ledger';
import { claimEndedPeriods, insertStatements, lastStatements, lockPeriod, markClosed, openPeriodBefore, readCarriedOut, readDraws, takeNotes, type EndedPeriod } from './closing-sql';
import { PeriodSweep } from './period-sweep';
import { meterKey } from './raw-sums';
import { reconciliationLine } from './reconciliation';
import { NO_HASH, statementHash, type StatementContent } from './statement-hash';
import { statementLine } from './statement-lines';
import { StoreFigureReader } from './store-figures';

const PERIODS_PER_BATCH = 100;
/** Batches at once in one worker: while one waits for Postgres the other works out its figures. */
const LANES = 2;
const BATCH_LIMIT_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Closes ended periods into statements. A batch is one transaction: the claim, the figures, the quotas' last word, the statements, their events; all of it or
 * nothing, so that a worker may be killed anywhere, and several may work at once.
 */
@Injectable()
export class PeriodClosing {
  private running: Promise<number> | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AppConfig) private readonly config: Pick<AppConfig, 'closingGraceHours'>,
    @Inject(UsageLedger) private readonly ledger: Pick<UsageLedger, 'figuresOf'>,
    @Inject(PeriodSweep) private readonly periods: PeriodSweep,
    @Inject(Reconciliation) private readonly reconciliation: Pick<Reconciliation, 'settle'>,
  ) {}

  /** Closes whatever is due. Calls during a run join it. @returns how many periods this run closed */
  run(): Promise<number> {
    this.running ??= this.closeDue().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async closeDue(): Promise<number> {
    await this.periods.ready();
    const before = new Date(this.clock.now() - this.config.closingGraceHours * HOUR_MS);
    const stores = new StoreFigureReader(this.redis);
    const failed = new Map<string, unknown>();
    const closed = await Promise.all(Array.from({ length: LANES }, () => this.closeBatches(before, stores, failed)));
    if (failed.size > 0) throw new ClosingError(failed);
    return closed.reduce((sum, count) => sum + count, 0);
  }

  /** A batch that fails is done again one by one, so that a tenant that cannot be closed holds up nobody else. */
  private async closeBatches(before: Date, stores: StoreFigureReader, failed: Map<string, unknown>): Promise<number> {
    for (let [closed, alone] = [0, 0]; ;) {
      let periods: EndedPeriod[] = [];
      try {
        await this.prisma.transaction(async (tx) => {
          periods = await claimEndedPeriods(tx, before, alone > 0 ? 1 : PERIODS_PER_BATCH, [...failed.keys()]);
          await this.close(tx, periods, stores, 'worker');
        }, { timeoutMs: BATCH_LIMIT_MS });
      } catch (error) {
        const [first] = periods;
        if (first === undefined) throw error;
        if (periods.length === 1) failed.set(first.tenant, error);
        alone = Math.max(alone - 1, periods.length > 1 ? periods.length : 0);
        continue;
      }
      if (periods.length === 0) return closed;
      failpoint('close.after-commit');
      closed += periods.length;
      alone = Math.max(0, alone - 1);
    }
  }

  /**
   * Closes one period in the caller's transaction, without waiting for the grace to pass.
   * @returns id of its statement, of an earlier closing too
   * @throws {DomainError} not_found; conflict while the period runs, or while an earlier one of the tenant is open
   */
  async closeOne(tx: Tx, tenant: string, periodId: string, closedBy: string): Promise<string> {
    const period = await lockPeriod(tx, tenant, periodId);
    if (!period) throw notFound();
    if (period.closedAt === null) {
      if (period.endAt.getTime() > this.clock.now()) throw new DomainError('conflict', `The period ${periodId} runs until ${period.endAt.toISOString()}`);
      const earlier = await openPeriodBefore(tx, tenant, period.endAt);
      if (earlier !== undefined) throw new DomainError('conflict', `The period ${earlier} comes first: a tenant's periods are closed in order`);
      await this.close(tx, [period], new StoreFigureReader(this.redis, tenant), closedBy);
    }
    const { id } = await tx.statement.findUniqueOrThrow({ where: { tenant_periodId: { tenant, periodId } }, select: { id: true } });
    return id;
  }

  /** The caller holds the rows of the periods, at most one of a tenant. */
  private async close(tx: Tx, periods: readonly EndedPeriod[], stores: StoreFigureReader, closedBy: string): Promise<void> {
    if (periods.length === 0) return;
    const closedAt = new Date(this.clock.now());
    await this.reconciliation.settle(tx, periods);
    await takeNotes(tx, periods);
    const figures = await this.figuresOf(tx, periods, closedAt);
    const moved = await finaliseQuotas(tx, [...figures.values()].flat(), closedAt);
    // Where the last word is another one than the sweep's, or the sweep has never come, allowances are others too.
    const anew = await this.figuresOf(tx, periods.filter(({ tenant }) => moved.includes(tenant)), closedAt);
    for (const [tenant, meters] of anew) figures.set(tenant, meters);
    const reading = await stores.read(tx, periods);
    const moves = await movesOf(tx, periods);
    const last = await lastStatements(tx, periods.map(({ tenant }) => tenant));
    const statements = periods.map((period) => {
      const { number, hash } = last.get(period.tenant) ?? { number: 0, hash: NO_HASH };
      const meters = (figures.get(period.tenant) ?? []).map((meter) => statementLine(meter, moves(period, meter.meter)));
      const content: StatementContent = {
        tenant: period.tenant,
        number: number + 1,
        period: { id: period.periodId, start: period.startAt.toISOString(), end: period.endAt.toISOString(), timezone: period.timezone },
        closedAt: closedAt.toISOString(),
        closedBy,
        lines: meters,
        reconciliation: meters.map((line) => reconciliationLine(line, reading(period.tenant, period.periodId, line.meter))),
        previousHash: hash,
      };
      return { id: randomUUID(), content, hash: statementHash(content), startAt: period.startAt, closedAt };
    });
    await insertStatements(tx, statements);
    await markClosed(tx, periods, closedAt);
    await recordEvents(tx, statements.map(({ id, content, hash }) => closedEvent(id, content, hash, closedAt)));
    failpoint('close.before-commit');
  }

  private async figuresOf(tx: Tx, periods: readonly EndedPeriod[], instant: Date): Promise<Map<string, MeterFigures[]>> {
    if (periods.length === 0) return new Map();
    const tenants = await readPolicyRows(tx, periods.map(({ tenant }) => tenant), { overrides: 'all', now: instant });
    const wanted = new Map(periods.map(({ tenant, periodId, startAt, endAt, timezone }) => [tenant, [{ id: periodId, startMs: startAt.getTime(), endMs: endAt.getTime(), timezone }]]));
    const figures = await this.ledger.figuresOf(tenants, wanted, { db: tx, instant });
    const byTenant = new Map<string, MeterFigures[]>(periods.map(({ tenant }) => [tenant, []]));
    for (const meter of figures) byTenant.get(meter.tenant)?.push(meter);
    return byTenant;
  }
}

/** Some tenants could not be closed; the others were. */
class ClosingError extends Error {
  override readonly name = 'ClosingError';

  constructor(failed: ReadonlyMap<string, unknown>) {
    const [[tenant, cause] = ['', undefined]] = failed;
    super(`${failed.size} tenants cannot be closed, ${tenant} first: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** What the quotas of the periods moved, as `finaliseQuotas` left it. */
async function movesOf(tx: Tx, periods: readonly EndedPeriod[]) {
  const [draws, carries] = [await readDraws(tx, periods), await readCarriedOut(tx, periods)];
  const drawn = new Map(draws.map((row) => [meterKey(row.tenant, row.periodId, row.meter), row.units]));
  const carriedOut = new Map(carries.map((row) => [meterKey(row.tenant, row.periodId, row.meter), row.units]));
  return ({ tenant, periodId }: EndedPeriod, meter: string) => {
    const key = meterKey(tenant, periodId, meter);
    return { drawn: drawn.get(key) ?? 0n, carriedOut: carriedOut.get(key) ?? 0n };
  };
}

const closedEvent = (id: string, { tenant, number, period, lines }: StatementContent, hash: string, at: Date) => {
  const data: PeriodClosed = { tenant, period: period.id, statementId: id, number, hash, lines: lines.map(({ meter, used, billable }) => ({ meter, used, billable })) };
  return { type: 'usage.period_closed', tenant, dedupeKey: `closed|${tenant}|${period.id}`, at, data } as const;
};
