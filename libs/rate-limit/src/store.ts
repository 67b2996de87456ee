import type { Alignment, Overage, Scope } from '@quotaplane/contracts';

/** A rate rule to be judged: numbers of the compiled limit, cost in units, and the name of its counter. */
export type RateCharge =
  | { readonly kind: 'bucket'; readonly counter: string; readonly limit: number; readonly windowMs: number; readonly capacity: number; readonly cost: number }
  | { readonly kind: 'window'; readonly counter: string; readonly limit: number; readonly windowMs: number; readonly alignment: Alignment; readonly cost: number };

/**
 * A monthly allowance. Used = counter + base.plus - base.minus (M3). `allowance: null` counts without denying.
 * With `overage: 'throttle'` the `lane` bucket is judged, and charged, only past the allowance.
 */
export interface QuotaCharge {
  readonly kind: 'quota';
  readonly counter: string;
  readonly base: string;
  readonly allowance: number | null;
  readonly overage: Overage;
  readonly periodEndMs: number;
  readonly cost: number;
  readonly lane?: Extract<RateCharge, { kind: 'bucket' }>;
}
export type Charge = RateCharge | QuotaCharge;

/**
 * A charge as an admission made it, which is what a refund needs: the window it was counted in, and the lane only where it was charged.
 * Made by `admitted` from a check's charges and its "allowed" verdict.
 */
export type AdmittedCharge =
  | { readonly kind: 'bucket'; readonly counter: string; readonly limit: number; readonly windowMs: number; readonly units: number }
  | { readonly kind: 'window'; readonly counter: string; readonly windowMs: number; readonly startMs: number; readonly units: number }
  | { readonly kind: 'quota'; readonly counter: string; readonly periodEndMs: number; readonly units: number };

/** One call to be decided: every charge is spent, or none. */
export interface Check {
  readonly tenant: string;
  /** Head the caller compiled its charges from; '' when it has none yet, which always answers `stale` or `lost`. */
  readonly knownHead: string;
  /** Bounds of the caller's segment in store time, `[fromMs, untilMs)`. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Fields of the tenant's subject overrides to read with a stale answer, `key:<id>` and the like. */
  readonly subjectFields: readonly string[];
  readonly charges: readonly Charge[];
}

/** Figures of one charge after the judgement (after spending, when allowed). All in whole units and ms. */
export interface ChargeState {
  readonly remaining: number;
  /** Until untouched; for a quota until its period ends. */
  readonly resetAfterMs: number;
  /** 0: this charge passes. > 0: a lone client passes after that. -1: never, the cost is above the capacity. */
  readonly retryAfterMs: number;
  /** Until more than `remaining` is available; 0 when untouched. */
  readonly moreAfterMs: number;
}
export interface QuotaState extends ChargeState {
  /** Set where the quota is past its allowance and its lane was judged. */
  readonly lane?: ChargeState;
}

/** An admission: what `admitted` and so a refund start from. */
export interface Admission {
  readonly nowMs: number;
  readonly states: readonly (ChargeState | QuotaState)[];
}

/** `nowMs` is store time, so that callers can keep store time + monotonic elapsed between answers (M2). */
export type Verdict =
  | { readonly status: 'allowed' | 'denied'; readonly nowMs: number; readonly states: readonly (ChargeState | QuotaState)[] }
  /** Nothing was spent: the head is another one. Everything needed to ask again is here. */
  | { readonly status: 'stale'; readonly nowMs: number; readonly head: string; readonly policy: string | null; readonly subjects: readonly (string | null)[] }
  /** Nothing was spent: store time is outside the segment. */
  | { readonly status: 'outside'; readonly nowMs: number }
  /** Nothing was spent: the head is absent, which only a loss of data explains. */
  | { readonly status: 'lost'; readonly nowMs: number }
  /** Nothing was spent, or what was spent late is refunded: the store did not answer in time, or not at all. */
  | { readonly status: 'unavailable'; readonly cause: 'deadline' | 'disconnected' | 'error'; readonly detail: string };

/**
 * Where counters live. No word of Redis here, so that other stores can follow. `acquire` and `release` (concurrency) join when concurrency is enforced.
 * Implementations never throw for an outage: they answer `unavailable`.
 */
export interface LimitStore {
  /**
   * Judges every charge, then spends all or none, in one atomic step.
   * @param deadlineAtMs monotonic instant (`performance.now()`) by which the caller needs the answer; a later "allowed" is refunded by the store
   */
  judgeAndSpend(check: Check, deadlineAtMs: number): Promise<Verdict>;
  /** The same judgement at cost 0: spends nothing, writes nothing. */
  peek(check: Check, deadlineAtMs: number): Promise<Verdict>;
  /**
   * Gives back what an admission charged, never above the limit, using the admission's own counters (head and segment are not asked).
   * A window's units come back only while that same window runs. At most once per admission: the caller sees to that.
   * @param charges from `admitted(check.charges, verdict)`; fewer units may be given back by lowering `units`
   * @returns whether the store took it; false is an outage, and nothing is retried
   */
  refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** What names a rate counter. `subject` is raw; it is encoded here, never pasted. `narrow` = class or route template where the limit is narrowed. */
export interface CounterName {
  readonly tenant: string;
  readonly limit: string;
  readonly algorithm: string;
  readonly windowMs: number;
  readonly scope: Scope;
  readonly subject: string;
  readonly narrow?: string;
}
