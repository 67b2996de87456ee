import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { CLOSED_HINT_MAX_MS, GRACE_MS, ttlOf } from './numbers';

/** What one process says that it holds. */
export interface SlotHolder {
  readonly count: number;
  /** End of its lease in store time; from then on it counts as gone. */
  readonly untilMs: number;
  /** Of the word within its process: an older one that comes later is void. */
  readonly sequence: number;
}

/** Slots of one counter in use: whole counts by process, so that a lost reply leaks nothing. */
export interface SlotsState {
  readonly holders: ReadonlyMap<string, SlotHolder>;
  /** When the first word of a new generation came. */
  readonly sinceMs: number | undefined;
}

export interface SlotRule {
  readonly limit: number;
  readonly isRegenerated: boolean;
}

/** Who asks. */
export interface SlotOrder {
  readonly incarnation: string;
  /** What it holds beside the batch that asks. */
  readonly own: number;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly sequence: number;
}

/** A refused caller is told to come again: nobody knows when a slot comes free (a published hint). */
export const SLOT_HINT_MS = 1_000;
/** A lease further ahead is from before a step back of the store's clock; its process writes it anew within a third of its lease. */
export const LEASE_MOST_MS = 60_000;
/** A process that calls seldom still has to find when its generation began. */
export const REGENERATED_MS = 3_456_000_000;

const EMPTY: SlotsState = { holders: new Map(), sinceMs: undefined };

const restOfGrace = ({ sinceMs }: SlotsState, { isRegenerated }: SlotRule, { graceMs }: SlotOrder, nowMs: number): number => {
  if (!isRegenerated) return 0;
  return sinceMs === undefined || sinceMs > nowMs ? graceMs : Math.max(0, sinceMs + graceMs - nowMs);
};

/** Slots in use: those of the living others as they said, one's own as one knows it. */
const usedOf = ({ holders }: SlotsState, { incarnation, own, sequence }: SlotOrder, nowMs: number): number => {
  const mine = holders.get(incarnation);
  let used = mine?.sequence === sequence ? mine.count : own;
  for (const [name, { count, untilMs }] of holders) if (name !== incarnation && untilMs > nowMs) used += count;
  return used;
};

/** What every writer leaves of the others: ended leases are dropped, those from before a step back of the clock bounded. */
const livingOf = ({ holders }: SlotsState, incarnation: string, nowMs: number): Map<string, SlotHolder> => {
  const others = [...holders].filter(([name, { untilMs }]) => name === incarnation || untilMs > nowMs);
  return new Map(others.map(([name, holder]) => [name, name === incarnation ? holder : { ...holder, untilMs: Math.min(holder.untilMs, nowMs + LEASE_MOST_MS) }]));
};

/** @param units 0 looks and passes unless the limit is 0 */
export const judgeSlots = (
  state: SlotsState = EMPTY, rule: SlotRule, order: SlotOrder, units: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<SlotsState> => {
  const { limit } = rule;
  if (limit === 0) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  if (units === 0) return { retryAfterMs: 0, state };
  if (units > limit - claimed) return { retryAfterMs: -1, state };
  const restMs = restOfGrace(state, rule, order, nowMs);
  if (restMs > 0) return { retryAfterMs: restMs, state };
  const { incarnation, leaseMs, sequence } = order;
  const isOvertaken = (state.holders.get(incarnation)?.sequence ?? 0) > sequence;
  const used = usedOf(state, order, nowMs);
  if (isOvertaken || units > limit - claimed - used) return { retryAfterMs: SLOT_HINT_MS, state };
  const mine = state.holders.get(incarnation);
  const own = mine?.sequence === sequence ? mine.count : order.own;
  const holders = livingOf(state, incarnation, nowMs).set(incarnation, { count: own + claimed + units, untilMs: nowMs + leaseMs, sequence });
  return { retryAfterMs: 0, state: { ...state, holders } };
};

/** The first call of a new generation opens its grace, although it is denied. */
export const deniedSlots = (state: SlotsState = EMPTY, { limit, isRegenerated }: SlotRule, { incarnation }: SlotOrder, nowMs: number): SlotsState | undefined => {
  if (limit === 0 || !isRegenerated || (state.sinceMs !== undefined && state.sinceMs <= nowMs)) return undefined;
  return { holders: livingOf(state, incarnation, nowMs), sinceMs: nowMs };
};

export const slotFigures = (state: SlotsState = EMPTY, rule: SlotRule, order: SlotOrder, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>): Figures => {
  const { limit } = rule;
  if (limit === 0) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const ttlMs = rule.isRegenerated ? REGENERATED_MS : ttlOf(order.leaseMs, GRACE_MS);
  const restMs = restOfGrace(state, rule, order, nowMs);
  if (restMs > 0) return { figures: { remaining: 0, resetAfterMs: restMs, moreAfterMs: restMs }, ttlMs };
  const used = usedOf(state, order, nowMs);
  const hintMs = used > 0 ? SLOT_HINT_MS : 0;
  return { figures: { remaining: Math.max(0, limit - used), resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs };
};

/** The meaning of assert-slots.lua for one counter: what is held is held. Undefined where a later word of the process is there already. */
export const assertedSlots = (state: SlotsState = EMPTY, isRegenerated: boolean, { incarnation, own, leaseMs, sequence }: SlotOrder, nowMs: number): SlotsState | undefined => {
  if ((state.holders.get(incarnation)?.sequence ?? 0) > sequence) return undefined;
  const holders = new Map(state.holders).set(incarnation, { count: own, untilMs: nowMs + leaseMs, sequence });
  return { holders, sinceMs: state.sinceMs ?? (isRegenerated ? nowMs : undefined) };
};

/** The one process of a store in memory: it holds what it counts, and never loses its lease. */
const here = (state: SlotsState | undefined): SlotOrder =>
  ({ incarnation: '', own: state?.holders.get('')?.count ?? 0, leaseMs: LEASE_MOST_MS, graceMs: 0, sequence: 0 });

const aloneRule = ({ limit }: SlotRule): SlotRule => ({ limit, isRegenerated: false });

const released = (state: SlotsState | undefined, { units }: AdmittedOf<'slot'>): RefundChange<SlotsState> | undefined => {
  const mine = state?.holders.get('');
  if (mine === undefined) return undefined;
  const count = mine.count - units;
  return count <= 0 ? { kind: 'drop' } : { kind: 'write', state: { holders: new Map([['', { ...mine, count }]]), sinceMs: undefined }, ttlMs: ttlOf(LEASE_MOST_MS, GRACE_MS) };
};

/** Slots within one process. */
export const slotModel: CounterModel<ChargeOf<'slot'>, SlotsState, AdmittedOf<'slot'>> = {
  judge: (state, charge, units, around) => judgeSlots(state, aloneRule(charge), here(state), units, around),
  figures: (state, charge, around) => slotFigures(state, aloneRule(charge), here(state), around),
  refund: released,
};
