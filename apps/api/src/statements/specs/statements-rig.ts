import { randomUUID } from 'node:crypto';
import { quotaKeys } from '@quotaplane/rate-limit';
import { redisKeys, type Overage } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { acknowledgeJournals, Journal, readJournals, type JournalCell } from '@quotaplane/usage';
import { OutboxRig } from '../../outbox/outbox-rig';
import { Reconciliation } from '../../ledger/reconciliation';
import { foldBatches } from '../../usage/fold-batches';
import { UsageLedger } from '../../usage/usage-ledger';
import { AdjustmentSweep } from '../adjustment-sweep';
import { PeriodClosing } from '../period-closing';
import { PeriodSweep } from '../period-sweep';
import { verifyStatements } from '../statement-verification';
import { storedStatement, type StoredStatement } from '../stored-statement';

/** The periods of the specs lie in the past of every clock, that of Postgres too. */
export const AUGUST = { id: '2026-08-01', startMs: Date.UTC(2026, 7, 1), endMs: Date.UTC(2026, 8, 1) } as const;
export const SEPTEMBER = { id: '2026-09-01', startMs: Date.UTC(2026, 8, 1), endMs: Date.UTC(2026, 9, 1) } as const;
/** September has ended, August's grace is over, too. */
const NOW_MS = Date.UTC(2026, 9, 3);

/** For specs: closings over real stores, with a clock that is set. */
export class StatementsRig {
  readonly clock = new TestClock(NOW_MS);
  readonly ledger: UsageLedger;
  private readonly nodes = new Map<string, Journal>();

  private constructor(readonly postgres: TestPostgres, readonly redisServer: TestRedis, readonly outbox: OutboxRig) {
    this.ledger = new UsageLedger(outbox.prisma, this.clock);
  }

  static async start(): Promise<StatementsRig> {
    const [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
    return new StatementsRig(postgres, redisServer, await OutboxRig.over({ postgres, redisServer }));
  }

  async stop(): Promise<void> {
    await this.outbox.stop();
    await Promise.all([this.postgres.stop(), this.redisServer.stop()]);
  }

  get prisma() {
    return this.outbox.prisma;
  }

  get redis() {
    return this.outbox.redis;
  }

  /** A tier that was in force since ever. */
  async tier(slug: string, allowance: number | null, { overage = 'bill', degraded = 'bill' }: { overage?: Overage; degraded?: 'bill' | 'waive' | 'cap' } = {}): Promise<string> {
    const id = await this.outbox.tier(slug, { quotas: [{ meter: 'requests', allowance, overage, alertAt: [] }], degraded });
    await this.prisma.tierVersion.updateMany({ data: { effectiveAt: new Date(0), publishedAt: new Date(0) } });
    return id;
  }

  /** A tenant since the middle of August. */
  async tenant(slug: string, tierId: string): Promise<void> {
    const createdAt = new Date(AUGUST.startMs + 14 * 86_400_000);
    await this.outbox.tenant(slug, tierId);
    await this.prisma.tenant.update({ where: { slug }, data: { createdAt } });
    await this.prisma.tierAssignment.updateMany({ where: { tenant: { slug } }, data: { effectiveAt: new Date(0), createdAt: new Date(0) } });
  }

  /** A worker of its own: nothing but the stores is held in common. */
  worker(closingGraceHours = 24) {
    const periods = new PeriodSweep(this.prisma, this.clock);
    return {
      periods,
      closing: new PeriodClosing(this.prisma, this.redis, this.clock, { closingGraceHours }, this.ledger, periods, new Reconciliation(this.prisma, this.redis)),
      adjustments: new AdjustmentSweep(this.prisma, this.clock, this.ledger),
    };
  }

  /** What a guard does with units of an ended period: journaled, counted in Redis and folded. The same incarnation goes on where it was. */
  async use(tenant: string, admitted: number, { refunded = 0, degraded = 0, periodId = AUGUST.id, incarnation = randomUUID() as string, meter = 'requests', generation = 1 } = {}): Promise<string> {
    const cell: JournalCell = { tenant, meter, periodId, part: 1, class: 'default', generation };
    const journal = this.nodes.get(incarnation) ?? new Journal({ redis: this.redis, incarnation, service: 'spec', storeNow: () => Date.now() });
    this.nodes.set(incarnation, journal);
    journal.admit(cell, admitted);
    if (refunded > 0) journal.refund(cell, refunded);
    if (degraded > 0) journal.admitDegraded(cell, degraded);
    await journal.flush();
    await this.redis.incrby(quotaKeys(cell).counter, admitted - refunded);
    await this.foldJournals();
    return incarnation;
  }

  /** Into the ledger alone: bases and thresholds are other rooms' specs. */
  async foldJournals(): Promise<void> {
    const batches = await readJournals(this.redis);
    await this.prisma.transaction((tx) => foldBatches(tx, batches));
    await acknowledgeJournals(this.redis, batches);
  }

  async statements(tenant: string): Promise<StoredStatement[]> {
    const rows = await this.prisma.statement.findMany({ where: { tenant }, orderBy: { number: 'asc' }, include: { adjustments: { orderBy: { number: 'asc' } } } });
    return rows.map(storedStatement);
  }

  verify(tenant?: string) {
    return verifyStatements(this.prisma, tenant);
  }

  /** As a superuser who goes past the triggers. */
  async tamper(sql: string): Promise<number> {
    return this.prisma.transaction(async (tx) => {
      await tx.$executeRawUnsafe('SET LOCAL session_replication_role = replica');
      return tx.$executeRawUnsafe(sql);
    });
  }

  journalKey(incarnation: string): string {
    return redisKeys.journal(incarnation);
  }
}
