import type { ResponseField } from '../http/ratelimit-fields';
import type { OnCallEnd } from '../http/response-end';

/** Where a call's figures go, and what tells its end. */
export interface CallAnswer {
  set(fields: readonly ResponseField[]): void;
  /** Exactly once, when the call has ended. */
  onEnd(listener: OnCallEnd): void;
  /** Ends the answer at once, unfinished; nothing where there is none to end. */
  cut(): void;
}
