import type { ChargeState } from '../store';

/** What one charge is judged under, besides its rule and the counter. */
export interface Circumstances {
  readonly nowMs: number;
  /** ms until the caller's segment ends: the wait that a limit of 0 advertises. */
  readonly segmentLeftMs: number;
  /** Units that earlier charges of the same check want on the same counter, whether they pass or not: a wait has to suit them all. */
  readonly claimed: number;
}

/** One charge judged alone. */
export interface Judgement<State> {
  /** 0 passes, > 0 wait, -1 never. */
  readonly retryAfterMs: number;
  /** The counter with the claimed units and the charge on it when it passes; else as found (undefined: there is none), re-based when the clock stepped back. */
  readonly state: State | undefined;
}

/** A counter's figures, and how long it has to live. */
export interface Figures {
  readonly figures: Omit<ChargeState, 'retryAfterMs'>;
  /** 0 when untouched: such a counter need not live at all. */
  readonly ttlMs: number;
}
