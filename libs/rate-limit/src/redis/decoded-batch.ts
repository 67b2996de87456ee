import type { ChargeState, Check, QuotaState, Verdict } from '../store';
import { isRich, penaltyOf, type TenantEntry } from './encoded-batch';

/** An answer of judge-and-spend.lua to one check: its status, then what the status brings. */
type Answer = readonly [status: number, ...rest: (number | string | null)[]];
type Reply = readonly [nowMs: number, ...answers: Answer[]];

/** Verdicts of a batch, in the order of its checks. The cast trusts our own script, whose reply the random histories hold to its header. */
export const decodeBatch = (checks: readonly Check[], entries: readonly TenantEntry[], reply: unknown): Verdict[] => {
  const [nowMs, ...answers] = reply as Reply;
  const told = new Map<TenantEntry, Answer>();
  return checks.map((check, at) => {
    const [answer, entry] = [answers[at], entries[at]];
    if (answer === undefined || entry === undefined) return { status: 'unavailable', cause: 'error', detail: 'reply is too short' };
    if (answer[0] === 2) {
      if (!told.has(entry)) told.set(entry, answer);
      return staleVerdict(check, entry, told.get(entry) ?? answer, nowMs);
    }
    if (answer[0] === 3) return { status: 'outside', nowMs };
    if (answer[0] === 4) return { status: 'lost', nowMs };
    return { status: answer[0] === 1 ? 'allowed' : 'denied', nowMs, states: statesOf(check, answer) };
  });
};

const staleVerdict = (check: Check, entry: TenantEntry, answer: Answer, nowMs: number): Verdict => {
  const textAt = (at: number): string | null => {
    const value = answer[at];
    return typeof value === 'string' ? value : null;
  };
  const subjects = check.subjectFields.map((field) => textAt(3 + entry.fields.indexOf(field)));
  return { status: 'stale', nowMs, head: textAt(1) ?? '', policy: textAt(2), subjects };
};

const statesOf = (check: Check, answer: Answer): (ChargeState | QuotaState)[] => {
  let at = 1;
  const next = (): ChargeState => {
    const state = {
      remaining: Number(answer[at]), resetAfterMs: Number(answer[at + 1]), retryAfterMs: Number(answer[at + 2]), moreAfterMs: Number(answer[at + 3]),
    };
    at += 4;
    return state;
  };
  // A kind of lua/parts answers five: its extra is the last, -1 where it has none.
  const nextExtra = (): number => {
    at += 1;
    return Number(answer[at - 1]);
  };
  const nextBan = (state: ChargeState): ChargeState => {
    const { remaining: banLevel, resetAfterMs: bannedMs } = next();
    nextExtra();
    if (bannedMs === 0) return state;
    return { ...state, retryAfterMs: state.retryAfterMs < 0 ? state.retryAfterMs : Math.max(state.retryAfterMs, bannedMs), bannedMs, ...(banLevel > 0 && { banLevel }) };
  };
  return check.charges.map((charge) => {
    const own = next();
    const extra = isRich(charge) ? nextExtra() : -1;
    const state = penaltyOf(charge) === undefined ? own : nextBan(own);
    if (charge.kind === 'queue' && extra >= 0) return { ...state, waitMs: extra };
    if (charge.kind === 'retry' && extra >= 0) return { ...state, repeatCost: extra };
    if (charge.kind !== 'quota' || charge.lane === undefined) return state;
    const lane = next();
    // A lane that was not judged answers -1 in all four.
    return lane.remaining < 0 ? state : { ...state, lane };
  });
};
