import type { Tx } from '../database/prisma.service';
import { periodsOf, type Calendar } from '@quotaplane/usage';

/** A billing period as `usage_periods` holds it. */
export interface RecordPeriod {
  readonly tenant: string;
  readonly periodId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly timezone: string;
  readonly isTransition: boolean;
}

/** What is needed of a tenant to find the period and part of any instant. */
export interface RecordTenant {
  readonly slug: string;
  readonly calendars: readonly Calendar[];
  /** Instants from which usage began anew in mid-period. */
  readonly restarts: readonly Date[];
}

/** Tenants by slug; unknown and deleted ones are left out. */
export async function readRecordTenants(tx: Tx, slugs: readonly string[]): Promise<ReadonlyMap<string, RecordTenant>> {
  const rows = await tx.tenant.findMany({
    where: { slug: { in: [...slugs] }, deletedAt: null },
    select: {
      slug: true, timezone: true, anchorDay: true,
      calendars: { orderBy: { fromAt: 'asc' } },
      assignments: { where: { usage: 'restart' }, select: { effectiveAt: true } },
    },
  });
  return new Map(rows.map(({ slug, timezone, anchorDay, calendars, assignments }) => [slug, {
    slug,
    calendars: calendars.length === 0
      ? [{ timezone, anchorDay, fromMs: null }]
      : calendars.map((row, index) => ({ timezone: row.timezone, anchorDay: row.anchorDay, fromMs: index === 0 ? null : row.fromAt.getTime() })),
    restarts: assignments.map(({ effectiveAt }) => effectiveAt),
  }]));
}

/** Finds the periods of one request's records; periods that are recorded already win, for they were cut when they ran. */
export class PeriodFinder {
  private readonly known = new Map<string, RecordPeriod[]>();

  constructor(recorded: readonly RecordPeriod[]) {
    for (const period of recorded) this.keep(period);
  }

  periodAt({ slug, calendars }: RecordTenant, at: Date): RecordPeriod {
    const known = this.known.get(slug)?.find(({ startAt, endAt }) => startAt <= at && at < endAt);
    if (known) return known;
    const [period] = periodsOf({ calendars, nowMs: at.getTime(), before: 0, after: 0 });
    if (!period) throw new NoPeriodError(slug, at);
    const { id, startMs, endMs, timezone, isTransition } = period;
    return this.keep({ tenant: slug, periodId: id, startAt: new Date(startMs), endAt: new Date(endMs), timezone, isTransition });
  }

  private keep(period: RecordPeriod): RecordPeriod {
    const own = this.known.get(period.tenant);
    if (own) own.push(period);
    else this.known.set(period.tenant, [period]);
    return period;
  }
}

/** 1 + the restarts strictly inside the period, up to the instant; as `part` of a policy's segments. */
export const partAt = ({ restarts }: RecordTenant, { startAt }: RecordPeriod, at: Date): number =>
  1 + restarts.filter((restart) => restart > startAt && restart <= at).length;

/** Periods are contiguous and without bounds, so this is a fault of ours. */
class NoPeriodError extends Error {
  override readonly name = 'NoPeriodError';
  constructor(tenant: string, at: Date) {
    super(`No period of ${tenant} contains ${at.toISOString()}`);
  }
}
