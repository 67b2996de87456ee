import type { DegradedSettlement, Overage } from '@quotaplane/contracts';

/** Sums of one tenant, meter and period over all incarnations, parts, classes and generations. */
export interface UsageSums {
  readonly admitted: bigint;
  readonly refunded: bigint;
  readonly degraded: bigint;
}

export interface SettledUsage extends UsageSums {
  /** Part of `degraded` that counts: all under `bill`, none under `waive`, up to the allowance left under `cap`. */
  readonly settled: bigint;
  /** admitted - refunded + settled */
  readonly used: bigint;
  /** Units above the allowance; 0 when unlimited. */
  readonly overage: bigint;
  /** Units above the allowance that the tier bills. */
  readonly billable: bigint;
}

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

/** Settles a period by its tier's rules; computed anew at each read, so that it follows the ledger. @see architecture M3 */
export const settle = (
  sums: UsageSums,
  rules: { readonly settlement: DegradedSettlement; readonly allowance: bigint | null; readonly overage: Overage },
): SettledUsage => {
  const exact = sums.admitted - sums.refunded;
  const left = rules.allowance === null ? sums.degraded : atLeastZero(rules.allowance - exact);
  const capped = sums.degraded < left ? sums.degraded : left;
  const settled = rules.settlement === 'bill' ? sums.degraded : rules.settlement === 'waive' ? 0n : capped;
  const used = exact + settled;
  const overage = rules.allowance === null ? 0n : atLeastZero(used - rules.allowance);
  return { ...sums, settled, used, overage, billable: rules.overage === 'bill' ? overage : 0n };
};
