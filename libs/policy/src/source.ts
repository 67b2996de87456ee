import type { CompiledPeriod, OverrideMode, OverrideSet, Quota, TenantStatus, TierContent } from '@quotaplane/contracts';

/** One published version of a tier. `effectiveMs` is null where it was in force when written, whichever clock said so. */
export interface VersionSource {
  readonly number: number;
  readonly effectiveMs: number | null;
  readonly content: TierContent;
}

/** A stretch of the tenant's tier timeline; `fromMs` null = in force when written. Sorted by `fromMs`, nulls first, later rows win. */
export interface TierSpan {
  readonly fromMs: number | null;
  readonly slug: string;
  readonly weight: number;
  readonly versions: readonly VersionSource[];
}

export interface OverrideSource {
  readonly id: string;
  readonly mode: OverrideMode;
  readonly set: OverrideSet;
  /** null = in force when written: an API clock that runs ahead of the store's must not delay a raise. */
  readonly fromMs: number | null;
  /** null = until reverted. */
  readonly untilMs: number | null;
  /** Newest wins among equals. */
  readonly createdMs: number;
}

/** What a tier change does with usage in mid-period. @see semantics: changing tier */
export type UsageTransfer = 'carry' | 'prorate' | 'restart';

/**
 * A move to another tier, with the allowances that counted from it on. Only `carry` changes neither the running count nor the new tier's allowance.
 * `isImmediate`: in force when written, so that it counts for the whole of the running period's timeline (guards ask for now alone).
 */
export interface QuotaChange {
  readonly atMs: number;
  readonly isImmediate: boolean;
  readonly usage: UsageTransfer;
  readonly quotas: readonly Pick<Quota, 'meter' | 'allowance'>[];
}

/** Units on top of an allowance while `[fromMs, untilMs)` runs: what is left of a top-up, or carried over. null = since ever, for ever. */
export interface QuotaExtra {
  readonly meter: string;
  readonly units: number;
  /** `top-up:<id>` or `carry:<period id>` */
  readonly source: string;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/** Everything a tenant's policy is compiled from: the current state, read under the tenant's row lock. */
export interface PolicySource {
  readonly tenant: string;
  readonly status: TenantStatus;
  readonly revision: number;
  readonly tiers: readonly TierSpan[];
  /** Of the whole tenant. */
  readonly overrides: readonly OverrideSource[];
  /** Of single keys, users and addresses, by field of `qp:{tenant}:subjects` (`subjectField`); absent when there are none. */
  readonly subjects?: ReadonlyMap<string, readonly OverrideSource[]>;
  /** Moves since the first period's start and the one before them, sorted by `atMs`; absent where usage was always carried. */
  readonly quotaChanges?: readonly QuotaChange[];
  readonly quotaExtras?: readonly QuotaExtra[];
  /** Contiguous billing periods: the one before now, the one around now, and the next 13 (so that no clock skew falls off the edge). */
  readonly periods: readonly CompiledPeriod[];
}
