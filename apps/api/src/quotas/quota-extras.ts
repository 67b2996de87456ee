import type { CompiledPeriod } from '@quotaplane/contracts';
import type { QuotaExtra } from '@quotaplane/policy';
import { bySpending, grantEndMs, grantStartMs, type GrantRow, type QuotaRows } from './quota-rows';
import { periodsBetween, stretchesOf, type Restart, type Stretch } from './stretches';

/** A tier change; one that was in force when written counts for the whole of its period's timeline. */
interface Change extends Restart {
  readonly createdAt: Date;
}

export interface ExtrasOf {
  readonly quotas: QuotaRows;
  readonly assignments: readonly Change[];
  /** Contiguous. */
  readonly periods: readonly CompiledPeriod[];
  /** Each change counts from its own instant, for looking back; else those in force when written count for all of their period, as in what is published. */
  readonly isLookingBack: boolean;
}

/**
 * What comes on top of the allowances in some periods of a tenant. Made of persisted rows alone, so that whoever publishes and whoever looks back find the same:
 * - carried units, in the first part of the period that got them
 * - of a grant what is left after the draws of every earlier part that could draw from it; nothing while such a row is missing (conservative)
 * - after a grant's end, until its part ends, what was drawn of it: what was used must stay allowed
 */
export function quotaExtrasOf({ quotas, assignments, periods, isLookingBack }: ExtrasOf): QuotaExtra[] {
  const grants = [...quotas.grants].sort(bySpending);
  if (grants.length === 0 && quotas.carries.length === 0) return [];
  const shown = stretchesOf(assignments, periods).map((stretch) => ({ ...stretch, fromMs: stretch.startMs }));
  const earlier = grants.length === 0 ? [] : stretchesOf(assignments, earlierPeriods(quotas, periods));
  const all = [...earlier, ...shown];
  return (isLookingBack ? shown : asPublished(shown, assignments)).flatMap((stretch) => [
    ...carriedInto(stretch, quotas),
    ...grants.flatMap((grant) => extrasOfGrant(grant, stretch, all)),
  ]);
}

interface Shown extends Stretch {
  /** From when on its extras show: its start, or its period's. */
  readonly fromMs: number;
}

/** A restart that was in force when written hides the parts before it: for the guards its part is all of the period. */
const asPublished = (stretches: readonly Shown[], assignments: readonly Change[]): Shown[] => {
  const immediate = new Set(assignments.filter(({ effectiveAt, createdAt }) => effectiveAt <= createdAt).map(({ effectiveAt }) => effectiveAt.getTime()));
  return stretches.flatMap((stretch) => {
    const parts = stretches.filter(({ period }) => period === stretch.period);
    const first = parts.findLast(({ part, startMs }) => part > 1 && immediate.has(startMs))?.part ?? 1;
    if (stretch.part < first) return [];
    return [stretch.part === first ? { ...stretch, fromMs: stretch.period.startMs } : stretch];
  });
};

const earlierPeriods = ({ calendars, grants }: QuotaRows, [first]: readonly CompiledPeriod[]): CompiledPeriod[] =>
  first === undefined ? [] : periodsBetween(calendars, Math.min(...grants.filter((grant) => grantEndMs(grant) > first.startMs).map(grantStartMs)), first.startMs);

/** Named by the period that left them. */
const carriedInto = ({ period, part, fromMs, endMs }: Shown, { calendars, carries }: QuotaRows): QuotaExtra[] => {
  const into = part > 1 ? [] : carries.filter(({ periodId, units }) => periodId === period.id && units > 0);
  if (into.length === 0) return [];
  const [from] = periodsBetween(calendars, period.startMs - 1, period.startMs);
  return into.map(({ meter, units }) => ({ meter, units, source: `carry:${from?.id ?? period.id}`, fromMs, untilMs: endMs }));
};

function extrasOfGrant(grant: GrantRow, stretch: Shown, all: readonly Stretch[]): QuotaExtra[] {
  const [startMs, endMs] = [grantStartMs(grant), grantEndMs(grant)];
  if (!isDrawable(grant, stretch)) return [];
  const extra = (units: number, fromMs: number, untilMs: number): QuotaExtra[] =>
    units > 0 && fromMs < untilMs ? [{ meter: grant.meter, units, source: `top-up:${grant.id}`, fromMs, untilMs }] : [];
  const isImmediate = grant.from <= grant.createdAt || startMs <= stretch.startMs;
  const left = leftAt(grant, stretch, all) ?? 0;
  return [
    ...extra(left, isImmediate ? stretch.fromMs : startMs, Math.min(endMs, stretch.endMs)),
    ...(endMs < stretch.endMs ? extra(drawOf(grant, stretch)?.units ?? 0, Math.max(endMs, stretch.fromMs), stretch.endMs) : []),
  ];
}

/** Whether a grant counts at some time of a part. */
export const isDrawable = (grant: GrantRow, { startMs, endMs }: Stretch): boolean =>
  grantStartMs(grant) < endMs && grantEndMs(grant) > Math.max(startMs, grantStartMs(grant));

export const drawOf = ({ draws }: GrantRow, { period, part }: Stretch): GrantRow['draws'][number] | undefined =>
  draws.find((draw) => draw.periodId === period.id && draw.part === part);

/**
 * Units of a grant that are left when a part begins; null where nobody has worked out yet what an earlier one drew.
 * @param all parts in order, from the one in which the grant began
 */
export function leftAt(grant: GrantRow, stretch: Stretch, all: readonly Stretch[]): number | null {
  let left = grant.units;
  for (const earlier of all) {
    if (earlier.startMs >= stretch.startMs) break;
    if (!isDrawable(grant, earlier)) continue;
    const draw = drawOf(grant, earlier);
    if (draw === undefined) return null;
    left -= draw.units;
    if (left <= 0) return 0;
  }
  return left;
}
