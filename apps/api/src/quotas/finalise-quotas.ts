import type { Tx } from '../database/prisma.service';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { tenantPeriodAt } from '../tenants/tenant-calendar';
import type { MeterFigures } from '../usage/meter-figures';
import { carriesInto, drawsAtPartEnd, type CarryWrite, type DrawWrite } from './quota-outcome';
import { makeDue, upsertCarries, upsertDraws } from './quota-sql';
import { partsUpTo } from './quota-work';

/**
 * Makes what ended periods drew and carry on final, by the figures of their statements; in the transaction that closes them. What was provisional is
 * corrected, so that a later period may have more or less than it was told: such tenants are due at once for the sweep `quotas`, which publishes them.
 * @param figures of whole periods that have ended; every meter of each
 * @returns slugs of the tenants whose numbers changed
 */
export async function finaliseQuotas(tx: Tx, figures: readonly MeterFigures[], now: Date): Promise<string[]> {
  const slugs = [...new Set(figures.map(({ tenant }) => tenant))];
  const outcomes = (await readPolicyRows(tx, slugs, { overrides: 'pending', now })).map((rows) =>
    ({ rows, ...outcomeOf(rows, figures.filter(({ tenant }) => tenant === rows.tenant), now.getTime()) }));
  const changed = outcomes.filter(({ rows, draws, carries }) => draws.some((draw) => !isKnown(rows, draw)) || carries.some((carry) => !isCarried(rows, carry)))
    .map(({ rows }) => rows.tenant);
  // The tenants before their rows, as the sweep takes them: the other way round the two would wait for each other.
  await makeDue(tx, changed, now);
  await upsertDraws(tx, outcomes.flatMap(({ draws }) => draws));
  await upsertCarries(tx, outcomes.flatMap(({ carries }) => carries));
  return changed;
}

function outcomeOf(rows: TenantPolicyRows, figures: readonly MeterFigures[], nowMs: number): { readonly draws: DrawWrite[]; readonly carries: CarryWrite[] } {
  const periods = [...new Map(figures.map(({ period }) => [period.id, period])).values()];
  const parts = partsUpTo(rows, nowMs);
  return {
    draws: parts.filter(({ period }) => periods.some(({ id }) => id === period.id))
      .flatMap((stretch) => drawsAtPartEnd(rows.quotas.grants, stretch, parts, figures, { isFinal: true })),
    carries: periods.flatMap(({ endMs }) => carriesInto(tenantPeriodAt(rows, endMs).id, rows, endMs, figures, { isFinal: true })),
  };
}

const isKnown = ({ quotas }: TenantPolicyRows, { topUpId, periodId, part, units }: DrawWrite): boolean =>
  quotas.grants.some(({ id, draws }) => id === topUpId && draws.some((draw) => draw.periodId === periodId && draw.part === part && draw.units === units));

const isCarried = ({ quotas }: TenantPolicyRows, { periodId, meter, units }: CarryWrite): boolean =>
  quotas.carries.some((row) => row.periodId === periodId && row.meter === meter && row.units === units);
