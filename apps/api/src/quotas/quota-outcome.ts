import type { TenantPolicyRows } from '../outbox/policy-rows';
import type { MeterFigures } from '../usage/meter-figures';
import { allocateDraws, type AvailableGrant } from './allocation';
import { drawOf, isDrawable, leftAt } from './quota-extras';
import { grantEndMs, grantStartMs, type GrantRow } from './quota-rows';
import { carryCaps } from './quota-work';
import type { Stretch } from './stretches';

export interface DrawWrite {
  readonly topUpId: string;
  readonly periodId: string;
  readonly part: number;
  readonly units: number;
  readonly isFinal: boolean;
}

export interface CarryWrite {
  readonly tenant: string;
  readonly meter: string;
  readonly periodId: string;
  readonly units: number;
  readonly isFinal: boolean;
}

/** Units of a meter in one part that neither its base nor carried units cover. A meter without a cap needs nothing. */
export function needOf(figures: readonly MeterFigures[], meter: string, { period, part }: Stretch): bigint {
  const own = figures.find((candidate) => candidate.meter === meter && candidate.period.id === period.id)?.parts.find((candidate) => candidate.part === part);
  if (own === undefined || own.allowance === null) return 0n;
  const need = own.used - (own.allowance - own.granted);
  return need > 0n ? need : 0n;
}

/**
 * What one part drew of the grants that counted in it, zeros too. What a grant drew that ended within the part is settled and comes off first.
 * @param figures of this tenant
 * @param parts in order, from the one in which the oldest grant began
 */
export function drawsOf(
  grants: readonly GrantRow[], stretch: Stretch, parts: readonly Stretch[], figures: readonly MeterFigures[], { untilMs = stretch.endMs } = {},
): ReadonlyMap<string, number> {
  const inPart = grants.filter((grant) => isDrawable(grant, stretch) && grantStartMs(grant) < untilMs);
  const draws = new Map<string, number>();
  for (const meter of new Set(inPart.map((grant) => grant.meter))) {
    const own = inPart.filter((grant) => grant.meter === meter);
    const settled = own.flatMap((grant) => drawOf(grant, stretch) ?? []).filter(({ isFinal }) => isFinal);
    const open = own.filter((grant) => drawOf(grant, stretch)?.isFinal !== true)
      .flatMap((grant): AvailableGrant[] => [{ grant, available: leftAt(grant, stretch, parts) ?? 0 }]);
    const need = needOf(figures, meter, stretch) - settled.reduce((sum, { units }) => sum + BigInt(units), 0n);
    for (const [id, units] of allocateDraws(need > 0n ? need : 0n, open)) draws.set(id, units);
  }
  return draws;
}

/** Rows of a part that has ended. */
export const drawsAtPartEnd = (
  grants: readonly GrantRow[], stretch: Stretch, parts: readonly Stretch[], figures: readonly MeterFigures[], { isFinal }: { readonly isFinal: boolean },
): DrawWrite[] => [...drawsOf(grants, stretch, parts, figures)].map(([topUpId, units]) => ({ topUpId, periodId: stretch.period.id, part: stretch.part, units, isFinal }));

/** Last rows of the grants that ended within a part, up to an instant. */
export const drawsAtGrantEnd = (grants: readonly GrantRow[], stretch: Stretch, parts: readonly Stretch[], figures: readonly MeterFigures[], untilMs: number): DrawWrite[] => {
  const ended = new Set(grants.filter((grant) => grantEndMs(grant) <= untilMs).map(({ id }) => id));
  return [...drawsOf(grants, stretch, parts, figures, { untilMs })].filter(([id]) => ended.has(id))
    .map(([topUpId, units]) => ({ topUpId, periodId: stretch.period.id, part: stretch.part, units, isFinal: true }));
};

/** Unused base and carried units that go over into the next period, zeros too. Neither overage nor grants carry (C088). */
export function carriesInto(
  nextPeriodId: string, { tenant, assignments }: Pick<TenantPolicyRows, 'tenant' | 'assignments'>, endMs: number, figures: readonly MeterFigures[], { isFinal }: { readonly isFinal: boolean },
): CarryWrite[] {
  return carryCaps({ assignments }, endMs).map(({ meter, cap }) => {
    const last = figures.find((candidate) => candidate.meter === meter && candidate.period.endMs === endMs)?.parts.at(-1);
    const unused = last === undefined || last.allowance === null ? 0n : last.allowance - last.granted - last.used;
    const units = unused <= 0n ? 0 : unused < BigInt(cap) ? Number(unused) : cap;
    return { tenant, meter, periodId: nextPeriodId, units, isFinal };
  });
}
