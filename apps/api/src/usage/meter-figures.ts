import type { CompiledPeriod, DegradedSettlement, Overage } from '@quotaplane/contracts';
import type { SettledUsage } from '@quotaplane/usage';

/** A billing period with the zone it was cut in. */
export interface TenantPeriod extends CompiledPeriod {
  readonly timezone: string;
}

/** One part of a period, settled by the rules at its end. */
export interface PartFigures extends SettledUsage {
  readonly part: number;
  readonly tier: string;
  readonly tierVersion: number;
  /** Base, carried units and top-ups. Null is unlimited. */
  readonly allowance: bigint | null;
  readonly carried: bigint;
  readonly granted: bigint;
  readonly overagePolicy: Overage;
  readonly settlement: DegradedSettlement;
}

/** One tenant, meter and period: at least one part, in order. */
export interface MeterFigures {
  readonly tenant: string;
  readonly meter: string;
  readonly period: TenantPeriod;
  readonly parts: readonly PartFigures[];
}
