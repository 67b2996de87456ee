import type { CompiledPeriod, DegradedSettlement, Overage } from '@quotaplane/contracts';

/** A billing period with the zone it was cut in. */
export interface TenantPeriod extends CompiledPeriod {
  readonly timezone: string;
}

/** What was counted of one meter, in one part of a period or in all of them, before anything is settled. Whole units, never negative. */
export interface LedgerSums {
  readonly admitted: bigint;
  readonly refunded: bigint;
  readonly degraded: bigint;
  /** Records that came before the period's end, after it, and what corrections take off. */
  readonly external: bigint;
  readonly late: bigint;
  readonly corrections: bigint;
  /** Stood in Redis's counter alone: the node died before it could journal. */
  readonly recovered: bigint;
}

/** One part of a period, settled by the rules at its end. */
export interface PartFigures extends LedgerSums {
  readonly part: number;
  readonly tier: string;
  readonly tierVersion: number;
  /** Base, carried units and top-ups. Null is unlimited. */
  readonly allowance: bigint | null;
  readonly carried: bigint;
  readonly granted: bigint;
  readonly overagePolicy: Overage;
  readonly settlement: DegradedSettlement;
  readonly settled: bigint;
  readonly used: bigint;
  readonly overage: bigint;
  readonly billable: bigint;
}

/** One tenant, meter and period: at least one part, in order. */
export interface MeterFigures {
  readonly tenant: string;
  readonly meter: string;
  readonly period: TenantPeriod;
  readonly parts: readonly PartFigures[];
}
