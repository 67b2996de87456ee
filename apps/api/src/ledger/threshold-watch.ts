import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { recordEvents, type HappenedEvent } from '../events/record-events';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceAt } from '../outbox/policy-source';
import type { MeterFigures } from '../usage/meter-figures';
import { thresholdKey } from '../usage/reached-thresholds';
import { UsageLedger } from '../usage/usage-ledger';
import type { UsageSumRow } from '../usage/usage-sql';
import { periodsByTenant, type DuePeriod } from './base-sql';
import type { TouchedFigures } from './quota-bases';
import type { TouchedPeriod } from './touch-usage';

/** How long a worked-out distance to the next threshold is believed, ms: an allowance that was lowered meanwhile is noticed then. */
const BELIEVED_MS = 30_000;
/** Most meters remembered; past it they are worked out anew. */
const REMEMBERED_MAX = 200_000;

interface NextThreshold {
  /** Of the tenant's policy that it was worked out by. */
  readonly revision: number;
  /** Units of {@link grossOf} below which none can be reached. */
  readonly atUnits: bigint;
  readonly untilMs: number;
}

/** At least what is used, for a first look: all that may count. */
const grossOf = (row: UsageSumRow): bigint => row.admitted - row.refunded + row.degraded + row.external + row.late + row.recovered;
const nameOf = ({ tenant, meter, periodId, part }: Pick<UsageSumRow, 'tenant' | 'meter' | 'periodId' | 'part'>): string => [tenant, periodId, meter, part].join('|');

/**
 * Records an event for each `alertAt` that is reached, once per tenant, meter, threshold and period: the event's key sees to that, whoever looks and
 * however often; a burst that crosses several records each. Only meters that may have reached one are worked out.
 */
@Injectable()
export class ThresholdWatch {
  private readonly next = new Map<string, NextThreshold>();
  /** Most meters worked out in one look: a fold waits for it. Specs have fewer. */
  protected readonly mostAtOnce: number = 2_000;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * After the figures or allowances of some periods have changed.
   * @returns periods that may have reached one and are still to be looked at: where very many come at once, a fold does not wait for all
   */
  async look({ periods, sums }: TouchedFigures): Promise<TouchedPeriod[]> {
    if (sums.length === 0) return [];
    const nowMs = this.clock.now();
    const revisions = new Map(periods.map(({ tenant, revision }) => [tenant, revision]));
    const due: UsageSumRow[] = [];
    const believedTooLong: UsageSumRow[] = [];
    for (const row of sums) {
      const next = this.next.get(nameOf(row));
      if (next === undefined || grossOf(row) >= next.atUnits || next.revision !== revisions.get(row.tenant)) due.push(row);
      else if (next.untilMs <= nowMs) believedTooLong.push(row);
    }
    const taken = [...due, ...believedTooLong].slice(0, this.mostAtOnce);
    if (taken.length > 0) await this.workOut(taken, periods, sums, nowMs);
    return due.slice(this.mostAtOnce).map(({ tenant, periodId }) => ({ tenant, periodId }));
  }

  private async workOut(due: readonly UsageSumRow[], known: readonly DuePeriod[], sums: readonly UsageSumRow[], nowMs: number): Promise<void> {
    const now = new Date(nowMs);
    const revisions = new Map(known.map(({ tenant, revision }) => [tenant, revision]));
    const tenants = await readPolicyRows(this.prisma, [...new Set(due.map(({ tenant }) => tenant))], { overrides: 'all', now });
    const wanted = new Set(due.map((row) => `${row.tenant}|${row.periodId}`));
    const periods = periodsByTenant(known.filter(({ tenant, periodId }) => wanted.has(`${tenant}|${periodId}`)));
    const figures = await this.ledger.figuresOf(tenants, periods, { instant: now, sums });
    const bySlug = new Map(tenants.map((row) => [row.tenant, row]));
    const looked = figures.map((meter) => ({ meter, ...reachedOf(meter, alertsOf(bySlug.get(meter.tenant), meter, now)) }));
    const events = looked.flatMap(({ meter, reached }) => reached.map((percent) => eventOf(meter, percent, now)));
    if (events.length > 0) await this.prisma.transaction((tx) => recordEvents(tx, events));
    if (this.next.size > REMEMBERED_MAX) this.next.clear();
    const gross = new Map(due.map((row) => [nameOf(row), grossOf(row)]));
    for (const { meter, unitsLeft } of looked) {
      for (const { part } of meter.parts) {
        const name = nameOf({ tenant: meter.tenant, meter: meter.meter, periodId: meter.period.id, part });
        this.next.set(name, { revision: revisions.get(meter.tenant) ?? 0, atUnits: (gross.get(name) ?? 0n) + unitsLeft, untilMs: nowMs + BELIEVED_MS });
      }
    }
  }
}

function alertsOf(tenant: TenantPolicyRows | undefined, { meter, period }: MeterFigures, now: Date): readonly number[] {
  const instant = new Date(Math.max(period.startMs, Math.min(now.getTime(), period.endMs - 1)));
  const source = tenant && policySourceAt(tenant, period, instant);
  return source?.tiers[0]?.versions[0]?.content.quotas.find((quota) => quota.meter === meter)?.alertAt ?? [];
}

/** Percentages reached, and how many units the next one is away at least; past the last one, more than anyone uses. */
function reachedOf({ parts }: MeterFigures, alerts: readonly number[]): { readonly reached: readonly number[]; readonly unitsLeft: bigint } {
  const NEVER = 1n << 62n;
  const running = parts.at(-1);
  if (!running || running.allowance === null || running.allowance === 0n) return { reached: [], unitsLeft: NEVER };
  const { used, allowance } = running;
  const unitsAt = (percent: number): bigint => (allowance * BigInt(percent) + 99n) / 100n;
  const ahead = alerts.filter((percent) => used < unitsAt(percent)).map((percent) => unitsAt(percent) - used);
  return { reached: alerts.filter((percent) => used >= unitsAt(percent)), unitsLeft: ahead.reduce((least, left) => (left < least ? left : least), NEVER) };
}

const eventOf = ({ tenant, meter, period, parts }: MeterFigures, percent: number, now: Date): HappenedEvent => ({
  type: 'usage.threshold_reached',
  tenant,
  dedupeKey: thresholdKey(tenant, meter, period.id, percent),
  at: now,
  data: {
    tenant, meter, period: period.id, percent,
    used: String(parts.at(-1)?.used ?? 0n), allowance: String(parts.at(-1)?.allowance ?? 0n), reachedAt: now.toISOString(),
  },
});
