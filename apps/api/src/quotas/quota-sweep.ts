import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../config/clock';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { TenantPublisher } from '../outbox/tenant-publisher';
import { tenantPeriodAt } from '../tenants/tenant-calendar';
import type { TenantPeriod } from '../usage/meter-figures';
import { UsageLedger } from '../usage/usage-ledger';
import { carriesInto, drawsAtGrantEnd, drawsAtPartEnd } from './quota-outcome';
import { dueTenants, lockDueTenants, upsertCarries, upsertDraws } from './quota-sql';
import { owedTasks, partsUpTo, type QuotaTask } from './quota-work';

const PAGE = 50;
/** Longest that rows wait for nodes whose journals are late; then what is there counts until the period is closed. */
const PATIENCE_MS = 60_000;
/** More parts than a tenant can owe: five years of them, and restarts. */
const ROUNDS = 200;

/**
 * Works out, when a period, a part or a top-up has ended, what was drawn and what carries on, and publishes the tenant. Rows are absolute, and a tenant
 * stays due until it is published: a kill at any step and a second worker are harmless.
 */
@Injectable()
export class QuotaSweep {
  private readonly logger = new Logger(QuotaSweep.name);

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @returns how many tenants were published */
  async run(): Promise<number> {
    let published = 0;
    for (let after = ''; ;) {
      const page = await dueTenants(this.prisma, new Date(this.clock.now()), after, PAGE);
      if (page.length === 0) return published;
      const asOfMs = Date.parse(await this.ledger.asOf());
      const ready = await this.prisma.transaction((tx) => this.settle(tx, page, asOfMs), { timeoutMs: 60_000 });
      if (ready.length > 0) await this.tenants.publish(ready);
      published += ready.length;
      after = page.at(-1) ?? after;
    }
  }

  /** @returns those that owe nothing any more */
  private async settle(tx: Tx, slugs: readonly string[], asOfMs: number): Promise<string[]> {
    const nowMs = this.clock.now();
    const ready: string[] = [];
    let open = await lockDueTenants(tx, slugs, new Date(nowMs));
    for (let round = 0; open.length > 0 && round < ROUNDS; round += 1) {
      const owing: { readonly rows: TenantPolicyRows; readonly task: QuotaTask }[] = [];
      for (const rows of await readPolicyRows(tx, open, { overrides: 'all', now: new Date(nowMs) })) {
        const [task] = owedTasks(rows, nowMs);
        if (task === undefined) ready.push(rows.tenant);
        else if (this.isTime(rows.tenant, task, asOfMs, nowMs)) owing.push({ rows, task });
      }
      await this.write(tx, owing, nowMs);
      open = owing.map(({ rows }) => rows.tenant);
    }
    failpoint('quota.before-commit');
    return ready;
  }

  private isTime(tenant: string, { atMs }: QuotaTask, asOfMs: number, nowMs: number): boolean {
    if (asOfMs >= atMs) return true;
    if (nowMs - atMs < PATIENCE_MS) return false;
    this.logger.warn(`Quotas of ${tenant} are settled without what nodes have not journaled since ${new Date(asOfMs).toISOString()}; the closing of the period corrects them`);
    return true;
  }

  private async write(tx: Tx, owing: readonly { readonly rows: TenantPolicyRows; readonly task: QuotaTask }[], nowMs: number): Promise<void> {
    if (owing.length === 0) return;
    const periods = new Map(owing.map(({ rows, task }): [string, TenantPeriod[]] => [rows.tenant, [tenantPeriodAt(rows, task.stretch.startMs)]]));
    const figures = await this.ledger.figuresOf(owing.map(({ rows }) => rows), periods, { db: tx, instant: new Date(nowMs) });
    const outcomes = owing.map(({ rows, task: { kind, atMs, stretch } }) => {
      const own = figures.filter(({ tenant }) => tenant === rows.tenant);
      const parts = partsUpTo(rows, nowMs);
      const { grants } = rows.quotas;
      if (kind === 'grant-end') return { draws: drawsAtGrantEnd(grants, stretch, parts, own, atMs), carries: [] };
      const isPeriodEnd = stretch.endMs === stretch.period.endMs;
      return {
        draws: drawsAtPartEnd(grants, stretch, parts, own, { isFinal: false }),
        carries: isPeriodEnd ? carriesInto(tenantPeriodAt(rows, stretch.endMs).id, rows, stretch.endMs, own, { isFinal: false }) : [],
      };
    });
    await upsertDraws(tx, outcomes.flatMap(({ draws }) => draws));
    await upsertCarries(tx, outcomes.flatMap(({ carries }) => carries));
  }
}
