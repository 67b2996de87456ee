import type { AdmittedCharge, Charge, ChargeState } from '../store';
import type { CounterState } from './counter-state';
import type { QuotaBase } from './quota';

/** What one charge is judged under, besides its rule and the counter. */
export interface Circumstances {
  readonly nowMs: number;
  /** ms until the caller's segment ends: the wait that a limit of 0 advertises. */
  readonly segmentLeftMs: number;
  /** Units that earlier charges of the same check want on the same counter, whether they pass or not: a wait has to suit them all. */
  readonly claimed: number;
  /** What the ledger republishes beside a quota's counter. */
  readonly baseOf: (base: string) => QuotaBase;
}

/** What the figures of a charge depend on. */
export type Around = Omit<Circumstances, 'claimed'>;

/** One charge judged alone. */
export interface Judgement<State> {
  /** 0 passes, > 0 wait, -1 never. */
  readonly retryAfterMs: number;
  /** The counter with the claimed units and the charge on it when it passes; else as found (undefined: there is none), re-based when the clock stepped back. */
  readonly state: State | undefined;
  /** Quota: past the allowance, the throttle lane decides. */
  readonly lane?: boolean;
  /** Queue: ms until the charge departs, where it passes. */
  readonly waitMs?: number;
  /** Retry: what every later charge of the check but a slot costs at most. */
  readonly costCap?: number;
}

/** A counter's figures, and how long it has to live. */
export interface Figures {
  readonly figures: Omit<ChargeState, 'retryAfterMs'>;
  /** 0 when untouched: such a counter need not live at all. */
  readonly ttlMs: number;
}

/** What a refund leaves to do: `drop` where the counter is untouched again. */
export type RefundChange<State = CounterState> =
  | { readonly kind: 'write'; readonly state: State; readonly ttlMs: number }
  | { readonly kind: 'drop' };

export type ChargeOf<Kind> = Extract<Charge, { readonly kind: Kind }>;
export type AdmittedOf<Kind> = Extract<AdmittedCharge, { readonly kind: Kind }>;

/**
 * The meaning of one kind of charge, pure: what its verbs in Lua do. Methods, so that the models of all kinds fit one table; `modelOf` hands each
 * the charges and states of its own kind only.
 */
export interface CounterModel<AnyCharge = Charge, State = CounterState, Admitted = AdmittedCharge> {
  /** @param units of the charge, 0 or more; 0 looks */
  judge(state: State | undefined, charge: AnyCharge, units: number, around: Circumstances): Judgement<State>;
  figures(state: State | undefined, charge: AnyCharge, around: Around): Figures;
  /**
   * What a denied check leaves behind, where that differs from `state`. Absent: what `judge` makes of 0 units, a time re-based after a step back.
   * @param retryAfterMs what the charge itself answered, 0 where another one denied
   */
  deny?(state: State | undefined, charge: AnyCharge, around: Around, retryAfterMs: number): State | undefined;
  /** The meaning of refund.lua for one charge; undefined where there is nothing to give back to. */
  refund(state: State | undefined, charge: Admitted, nowMs: number): RefundChange<State> | undefined;
}
