import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { quotasAt, type QuotasAt } from '@quotaplane/policy';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { notFound } from '../http/caller';
import { readPolicyRows, readTierRow, type TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceOf, type AssignmentRow } from '../outbox/policy-source';
import { UsageLedger } from '../usage/usage-ledger';
import { tenantPeriodAt, tenantPeriods } from './tenant-calendar';
import { requireUsableTier } from './tenant-rules';
import { moveInstant, moveUsage } from './tier-moves';

export type TierPreview = RouteOutput<typeof routes.tenantTierPreview>;
type Figures = NonNullable<TierPreview['meters'][number]['before']>;

/** Quotas of one instant, with what was used of them so far. */
interface Moment {
  readonly quotas: QuotasAt['quotas'];
  readonly used: (meter: string) => bigint;
}

/** What a move to another tier would do to the quotas, compiled from the rows as they would be: what is shown is what is then enforced. */
@Injectable()
export class TierPreviewService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @throws {DomainError} invalid, in the words of the move itself */
  async get({ params: { slug }, query }: RouteInput<typeof routes.tenantTierPreview>): Promise<TierPreview> {
    const at = new Date(this.clock.now());
    const [{ rows, move }, asOf] = await Promise.all([this.prisma.transaction((tx) => readMove(tx, slug, query, at)), this.ledger.asOf()]);
    const effectiveMs = move.effectiveAt.getTime();
    const standing = rows.assignments.filter(({ effectiveAt }) => effectiveAt <= at);
    const moved = [...standing.filter(({ effectiveAt }) => effectiveAt.getTime() !== effectiveMs), move];
    const [before, after] = await Promise.all([
      this.momentOf({ ...rows, assignments: standing }, Math.max(at.getTime(), effectiveMs - 1), at),
      this.momentOf({ ...rows, assignments: moved }, effectiveMs, at),
    ]);
    const meters = [...new Set([...before.quotas, ...after.quotas].map(({ meter }) => meter))].sort();
    return {
      tenant: slug,
      from: before.tier,
      to: query.tier,
      usage: query.usage,
      effectiveAt: move.effectiveAt.toISOString(),
      period: tenantPeriodAt(rows, effectiveMs).id,
      meters: meters.map((meter) => ({ meter, before: figuresOf(before, meter), after: figuresOf(after, meter) })),
      asOf,
    };
  }

  private async momentOf(rows: TenantPolicyRows, atMs: number, now: Date): Promise<Moment & { readonly tier: string }> {
    const periods = tenantPeriods(rows, { nowMs: atMs, before: 1, after: 0 });
    const { quotas, part, tier } = quotasAt(policySourceOf({ ...rows, revision: Math.max(rows.revision, 1) }, periods), atMs);
    const period = tenantPeriodAt(rows, atMs);
    const figures = period.startMs > now.getTime() ? [] : await this.ledger.figuresOf([rows], new Map([[rows.tenant, [period]]]), { instant: now });
    const used = (meter: string): bigint =>
      figures.find((candidate) => candidate.meter === meter)?.parts.find((candidate) => candidate.part === part)?.used ?? 0n;
    return { quotas, used, tier };
  }
}

/** A move as it would be written. */
async function readMove(
  tx: Tx, slug: string, query: RouteInput<typeof routes.tenantTierPreview>['query'], at: Date,
): Promise<{ readonly rows: TenantPolicyRows; readonly move: AssignmentRow }> {
  const [rows] = await readPolicyRows(tx, [slug], { overrides: 'all', now: at });
  if (!rows || rows.deletedAt !== null) throw notFound();
  const effectiveAt = moveInstant(query.effectiveAt, rows, at, '/query/effectiveAt');
  await requireUsableTier(tx, query.tier, slug, '/query/tier');
  const tier = await readTierRow(tx, query.tier);
  if (!tier) throw notFound();
  return { rows, move: { effectiveAt, createdAt: at, usage: moveUsage(query.usage, rows, effectiveAt), tier } };
}

function figuresOf({ quotas, used: usedOf }: Moment, meter: string): Figures | null {
  const quota = quotas.find((candidate) => candidate.meter === meter);
  if (!quota) return null;
  const used = usedOf(meter);
  if (quota.allowance === null) return { used: String(used), allowance: null, remaining: null };
  const left = BigInt(quota.allowance) - used;
  return { used: String(used), allowance: String(quota.allowance), remaining: String(left > 0n ? left : 0n) };
}
