import { bySpending, type GrantRow } from './quota-rows';

/** A grant with what is left of it. */
export interface AvailableGrant {
  readonly grant: GrantRow;
  readonly available: number;
}

/**
 * Spreads what was used beyond base and carried units over grants, in the order of spending. Pure.
 * @param need whole units, 0 or more
 * @returns units of every grant, zeros too: never more than it has, min(need, all that is available) in sum
 */
export function allocateDraws(need: bigint, grants: readonly AvailableGrant[]): ReadonlyMap<string, number> {
  let left = need;
  const draws = new Map<string, number>();
  for (const { grant, available } of [...grants].sort((a, b) => bySpending(a.grant, b.grant))) {
    const units = left < BigInt(available) ? Number(left) : available;
    draws.set(grant.id, units);
    left -= BigInt(units);
  }
  return draws;
}
