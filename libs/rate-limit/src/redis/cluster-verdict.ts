import type { AdmittedCharge, Charge, ChargeState, Check, QuotaState, Verdict } from '../store';
import { admitted } from '../admitted';
import type { CheckPart } from './cluster-parts';

type Judged = Extract<Verdict, { status: 'allowed' | 'denied' }>;

/** A part that was judged. */
export interface Taken {
  readonly part: CheckPart;
  readonly verdict: Judged;
}

/** A part that was only looked at, once another had denied; undefined where it was not even asked. */
export interface Looked {
  readonly part: CheckPart;
  readonly verdict: Verdict | undefined;
}

/** What stands for a charge whose part could not be asked any more. */
const UNKNOWN: ChargeState = { remaining: 0, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 };

/** One answer of all parts, each state with the store time of its own part; `excess` is what parts charged in full although the call is a cheap repeat. */
export const wholeVerdict = (check: Check, taken: readonly Taken[]): { readonly verdict: Judged; readonly excess: readonly AdmittedCharge[] } => {
  const verdict = mergedVerdict('allowed', check, taken);
  const repeatCost = verdict.states.find((state) => state.repeatCost !== undefined)?.repeatCost;
  if (repeatCost === undefined) return { verdict, excess: [] };
  const full = taken.filter(({ verdict: { states } }) => states.every((state) => state.repeatCost === undefined));
  const excess = full.flatMap(({ part, verdict: of }) => admitted(part.check.charges, of));
  return { verdict, excess: excess.flatMap((charge) => (charge.kind !== 'slot' && charge.units > repeatCost ? [{ ...charge, units: charge.units - repeatCost }] : [])) };
};

/** A denial with the figures of all parts. A look that says that the caller's policy is another one comes first: it has to ask again. */
export const deniedWhole = (check: Check, taken: readonly Taken[], denied: Taken, looked: readonly Looked[]): Verdict => {
  const other = looked.find(({ verdict }) => verdict?.status === 'stale' || verdict?.status === 'outside' || verdict?.status === 'lost');
  if (other?.verdict !== undefined) return other.verdict;
  const givenBack = taken.map(({ part, verdict }) => ({ part, verdict: { ...verdict, states: verdict.states.map((state, at) => withUnits(state, part.check.charges[at])) } }));
  const looks = looked.flatMap(({ part, verdict }) => (verdict?.status === 'allowed' || verdict?.status === 'denied' ? [{ part, verdict }] : []));
  return mergedVerdict('denied', check, [...givenBack, ...looks, denied]);
};

/** Store time of the last part; it is the tenant's own, or the one that denied. */
const mergedVerdict = (status: Judged['status'], check: Check, parts: readonly Taken[]): Judged => {
  const states: (ChargeState | QuotaState)[] = check.charges.map(() => UNKNOWN);
  const nowMs = parts.at(-1)?.verdict.nowMs ?? 0;
  for (const { part, verdict } of parts) {
    part.places.forEach((place, at) => {
      const state = verdict.states[at];
      if (state !== undefined) states[place] = verdict.nowMs === nowMs ? state : { ...state, nowMs: verdict.nowMs };
    });
  }
  return { status, nowMs, states };
};

/** What an earlier part spent is on its way back. */
const withUnits = <State extends ChargeState>(state: State, charge: Charge | undefined): State =>
  charge === undefined || charge.cost === 0 ? state : { ...state, remaining: state.remaining + charge.cost };
