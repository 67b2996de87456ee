import type { Alignment, Overage, Scope } from '@quotaplane/contracts';

interface Rate {
  readonly counter: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly cost: number;
  /** Strikes and bans of the counter's subject. */
  readonly penalty?: PenaltyRule;
}

/** A rate rule to be judged: numbers of the compiled limit, cost in units, and the name of its counter. */
export type RateCharge =
  /** Token bucket and GCRA. */
  | (Rate & { readonly kind: 'bucket'; readonly capacity: number })
  | (Rate & { readonly kind: 'window'; readonly alignment: Alignment })
  /** Sliding log: every admission of the last `windowMs`, one entry a millisecond. `limit` at most 10,000. */
  | (Rate & { readonly kind: 'log' })
  /** Sliding counter: two epoch-aligned windows, the older one weighed by what of it is still inside. */
  | (Rate & { readonly kind: 'counter' })
  /** Leaky bucket: a queue of `capacity` units, the one that departs included; the state's `waitMs` says when this call departs. */
  | (Rate & { readonly kind: 'queue'; readonly capacity: number; readonly maxWaitMs: number });

/** A growing ban. Its own counter stands beside the subject's. A denial by the rate is a strike; a ban denies with `bannedMs` set. */
export interface PenaltyRule {
  readonly counter: string;
  readonly strikes: number;
  readonly withinMs: number;
  readonly banMs: number;
  readonly factor: number;
  readonly maxBanMs: number;
  readonly forgiveAfterMs: number;
}

/**
 * One slot of `limit` that are in use at once, over all nodes; `limit` 0 denies. The store keeps count of this process's own and renews their lease.
 * After `allowed` the caller holds the slot until {@link LimitStore.release}. Costs no units.
 */
export interface SlotCharge {
  readonly kind: 'slot';
  readonly counter: string;
  readonly limit: number;
  /** True from generation 2 on: the counts of other nodes may be missing still, so that nothing is given until they have been written anew. */
  readonly isRegenerated: boolean;
  readonly cost: 1;
  /** Called once when the lease ran out although it was held: somebody else may have the slot by now. */
  readonly onLost?: () => void;
}

/**
 * The Idempotency-Key of a call whose class makes repeats cheaper: when the key was used for an admitted call within `windowMs`, and fewer than `max`
 * times since, all other charges of the check cost `repeatCost` at most. Stands first in a check.
 */
export interface RetryCharge {
  readonly kind: 'retry';
  readonly counter: string;
  readonly windowMs: number;
  readonly max: number;
  readonly repeatCost: number;
  /** 0; in a cluster the store says 1 where the charges that cost something are judged elsewhere. */
  readonly cost: 0 | 1;
}

/**
 * A monthly allowance. Used = counter + base.plus - base.minus (M3). `allowance: null` counts without denying.
 * With `overage: 'throttle'` the `lane` bucket is judged, and charged, only past the allowance. Past the `ceiling` the charge denies until the period's
 * end, whatever the lane says; the figures stay those of the allowance.
 */
export interface QuotaCharge {
  readonly kind: 'quota';
  readonly counter: string;
  readonly base: string;
  readonly allowance: number | null;
  readonly overage: Overage;
  /** Units, never below the allowance; absent: none. Only `throttle` and `bill` come that far; without an allowance there is none. */
  readonly ceiling?: number;
  readonly periodEndMs: number;
  readonly cost: number;
  readonly lane?: Extract<RateCharge, { kind: 'bucket' }>;
}
export type Charge = RateCharge | QuotaCharge | SlotCharge | RetryCharge;

/**
 * A charge as an admission made it, which is what a refund needs: the window it was counted in, and the lane only where it was charged.
 * Made by `admitted` from a check's charges and its "allowed" verdict.
 */
export type AdmittedCharge =
  | { readonly kind: 'bucket'; readonly counter: string; readonly limit: number; readonly windowMs: number; readonly units: number }
  | { readonly kind: 'log'; readonly counter: string; readonly windowMs: number; readonly atMs: number; readonly units: number }
  | { readonly kind: 'counter'; readonly counter: string; readonly windowMs: number; readonly startMs: number; readonly units: number }
  | { readonly kind: 'queue'; readonly counter: string; readonly limit: number; readonly windowMs: number; readonly departsAtMs: number; readonly units: number }
  | { readonly kind: 'slot'; readonly counter: string; readonly units: 1 }
  | { readonly kind: 'window'; readonly counter: string; readonly windowMs: number; readonly startMs: number; readonly units: number }
  | { readonly kind: 'quota'; readonly counter: string; readonly periodEndMs: number; readonly units: number };

export const ANY_HEAD = '*';

/** One call to be decided: every charge is spent, or none. */
export interface Check {
  readonly tenant: string;
  /**
   * Head the caller compiled its charges from; '' when it has none yet, which always answers `stale` or `lost`. {@link ANY_HEAD}: the head is not
   * asked, for charges whose slot holds none (in a cluster) or that no policy governs.
   */
  readonly knownHead: string;
  /** Bounds of the caller's segment in store time, `[fromMs, untilMs)`. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Fields of the tenant's subject overrides to read with a stale answer, `key:<id>` and the like. */
  readonly subjectFields: readonly string[];
  readonly charges: readonly Charge[];
  /**
   * Called at most once, where the store may have counted units of this check that its verdict does not admit: the call went out and its reply never
   * came, or an "allowed" came too late and could not be given back for certain. Often after the verdict, by a second or two; always before
   * {@link LimitStore.close} is done. Never for a check of no units, nor for one that was not sent. Must not throw.
   */
  readonly onDoubt?: () => void;
  /** The store's own: what it has worked out of this very object, for when it comes again. Whoever makes a check leaves it out, or `undefined`. */
  memo?: CheckMemo | undefined;
}

/** What a store keeps with a check; only the store that made it knows more. */
export interface CheckMemo {
  /** A copy of a check brings the memo of its original. */
  readonly check: Check;
  readonly epoch: object;
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
  /** Queue, allowed: ms from `nowMs` until this call departs; the caller sleeps that long. Absent elsewhere. */
  readonly waitMs?: number;
  /** Rate with a penalty: the subject is banned for this long, this very denial's ban included; absent otherwise. `retryAfterMs` covers it. */
  readonly bannedMs?: number;
  /** Set where this denial began a ban: how many in a row, 1 or more. */
  readonly banLevel?: number;
  /** Store time of this charge's own judgement, where that is not the verdict's: in a cluster, charges of other tags are judged by other servers. */
  readonly nowMs?: number;
  /** Retry charge: units that every other charge of the check was judged at; absent where the full cost was. */
  readonly repeatCost?: number;
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
  /** Nothing was spent, or what was spent late is refunded, or {@link Check.onDoubt} tells otherwise: the store did not answer in time, or not at all. */
  | { readonly status: 'unavailable'; readonly cause: 'deadline' | 'disconnected' | 'error'; readonly detail: string };

/**
 * Where counters live. No word of Redis here, so that other stores can follow. A slot is acquired like anything else, by a charge of a check.
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
   * A window's units come back only while that same window runs. At most once per admission: the caller sees to that. Slots stay: {@link release}.
   * @param charges from `admitted(check.charges, verdict)`; fewer units may be given back by lowering `units`
   * @returns whether the store took it; false is an outage, and nothing is retried
   */
  refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean>;
  /**
   * Gives one slot back. Once per admission, also after `onLost`: the caller sees to that. Returns at once; the store tells the others soon, and again
   * where that word is lost.
   * @param counter of the admitted {@link SlotCharge}
   * @param onLost of that charge, where it had one: says which of the slots it is, and whether that was lost before
   */
  release(counter: string, onLost?: () => void): void;
  /** Slots that this process holds, over all counters: a gauge. */
  readonly slotsHeld: number;
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
