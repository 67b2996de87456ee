import type { DegradedSettlement, Overage } from '@quotaplane/contracts';

/** What was counted of one meter, in one part of a period or in all of them, before anything is settled. Whole units, never negative. */
export interface UsageSums {
  readonly admitted: bigint;
  readonly refunded: bigint;
  /** Admitted while the store was away; the tier's rule says what of it counts. */
  readonly degraded: bigint;
  /** Records over REST that came before the period's end, and after it. */
  readonly external: bigint;
  readonly late: bigint;
  /** What negative records take off, as a positive number. */
  readonly corrections: bigint;
  /** Stood in Redis's counter alone: the node died before it could journal. */
  readonly recovered: bigint;
}

export const NO_USAGE: UsageSums = { admitted: 0n, refunded: 0n, degraded: 0n, external: 0n, late: 0n, corrections: 0n, recovered: 0n };

export interface SettledUsage extends UsageSums {
  /** Part of `degraded` that counts: all under `bill`, none under `waive`, up to the allowance left under `cap`. */
  readonly settled: bigint;
  /** admitted - refunded + settled + external + late + recovered - corrections; never below 0 */
  readonly used: bigint;
  /** Units above the allowance; 0 when unlimited. */
  readonly overage: bigint;
  /** Units above the allowance that the tier bills. */
  readonly billable: bigint;
}

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

/** Most figures are 0, and a sum of BigInts is a new one each time: of a million rows, most of the time went into adding nothing. */
const plus = (sum: bigint, units: bigint): bigint => (units === 0n ? sum : sum + units);
const minus = (sum: bigint, units: bigint): bigint => (units === 0n ? sum : sum - units);

/** Settles a period by its tier's rules; computed anew at each read, so that it follows the ledger. @see architecture M3 */
export const settle = (
  sums: UsageSums,
  rules: { readonly settlement: DegradedSettlement; readonly allowance: bigint | null; readonly overage: Overage },
): SettledUsage => {
  const exact = minus(plus(plus(plus(minus(sums.admitted, sums.refunded), sums.external), sums.late), sums.recovered), sums.corrections);
  const settled = sums.degraded === 0n ? 0n : settledOf(sums.degraded, exact, rules);
  const used = atLeastZero(plus(exact, settled));
  const overage = rules.allowance === null || used <= rules.allowance ? 0n : used - rules.allowance;
  const { admitted, refunded, degraded, external, late, corrections, recovered } = sums;
  return { admitted, refunded, degraded, external, late, corrections, recovered, settled, used, overage, billable: rules.overage === 'bill' ? overage : 0n };
};

function settledOf(degraded: bigint, exact: bigint, { settlement, allowance }: { readonly settlement: DegradedSettlement; readonly allowance: bigint | null }): bigint {
  if (settlement !== 'cap') return settlement === 'bill' ? degraded : 0n;
  const left = allowance === null ? degraded : atLeastZero(allowance - exact);
  return degraded < left ? degraded : left;
}
