import type { Charge, ChargeState, Check, QuotaCharge, QuotaState, RateCharge } from '../store';
import { bucketFigures, judgeBucket, type BucketState } from './bucket';
import type { Circumstances, Figures, Judgement } from './judgement';
import { GRACE_MS } from './numbers';
import { judgeQuota, quotaFigures, type QuotaBase, type QuotaCount } from './quota';
import { judgeWindow, windowFigures, type WindowState } from './window';

export type CounterState = BucketState | WindowState | QuotaCount;

/** The counters as a check finds them. A value of another kind counts as absent. */
export interface CounterBook {
  bucket(counter: string): BucketState | undefined;
  window(counter: string): WindowState | undefined;
  quota(counter: string): QuotaCount | undefined;
  base(base: string): QuotaBase;
}

/** What a judgement leaves to do on one counter. */
export type CounterChange =
  | { readonly kind: 'write'; readonly state: CounterState; readonly ttlMs: number }
  /** Only the life: to `ttlMs` where it is shorter; a counter that would live for ever gets at least the grace. */
  | { readonly kind: 'lengthen'; readonly ttlMs: number };

export interface CheckJudgement {
  readonly status: 'allowed' | 'denied';
  readonly states: readonly (ChargeState | QuotaState)[];
  readonly changes: ReadonlyMap<string, CounterChange>;
}

/** A counter while one check is judged. */
interface Draft {
  readonly kind: Charge['kind'];
  readonly found: CounterState | undefined;
  state: CounterState | undefined;
  claimed: number;
}

/** One charge, or the lane of one, with what its judgement gave. */
interface Line {
  readonly charge: Charge;
  readonly draft: Draft;
  readonly retryAfterMs: number;
  readonly lane?: Line;
}

/**
 * Judges every charge of a check, then spends all or none: the meaning of judge-and-spend.lua for a check whose head and segment hold.
 * Charges are claimed in order, so two on one counter see each other; what a denial claimed is dropped.
 */
export const judgeCheck = (book: CounterBook, check: Check, nowMs: number): CheckJudgement => {
  const drafts = new Map<string, Draft>();
  const around = { nowMs, segmentLeftMs: check.untilMs - nowMs };
  const lines = check.charges.map((charge) => judgeLine(book, drafts, charge, around));
  const isAllowed = lines.every(passes);
  if (!isAllowed) for (const draft of drafts.values()) draft.state = draft.found;
  const states = lines.map((line) => stateOf(line, book, around));
  return isAllowed
    ? { status: 'allowed', states, changes: spent(lines, book, around) }
    : { status: 'denied', states, changes: kept(lines, book, around) };
};

type Around = Omit<Circumstances, 'claimed'>;

const passes = (line: Line): boolean => line.retryAfterMs === 0 && (line.lane === undefined || passes(line.lane));

const draftOf = (book: CounterBook, drafts: Map<string, Draft>, { kind, counter }: Charge): Draft => {
  const known = drafts.get(counter);
  if (known !== undefined) return known;
  const found = book[kind](counter);
  const draft = { kind, found, state: found, claimed: 0 };
  drafts.set(counter, draft);
  return draft;
};

const judgeLine = (book: CounterBook, drafts: Map<string, Draft>, charge: Charge, around: Around): Line => {
  const draft = draftOf(book, drafts, charge);
  const judgement = judgeCharge(book, charge, draft.found, { ...around, claimed: draft.claimed });
  if (judgement.retryAfterMs === 0 && charge.cost > 0) draft.state = judgement.state;
  draft.claimed += charge.cost;
  const line = { charge, draft, retryAfterMs: judgement.retryAfterMs };
  const lane = charge.kind === 'quota' && judgement.lane === true ? charge.lane : undefined;
  return lane === undefined ? line : { ...line, lane: judgeLine(book, drafts, lane, around) };
};

type AnyJudgement = Judgement<CounterState> & { readonly lane?: boolean };

const judgeCharge = (book: CounterBook, charge: Charge, state: CounterState | undefined, around: Circumstances): AnyJudgement => {
  if (charge.kind === 'bucket') return judgeBucket(asBucket(state), charge, charge.cost, around);
  if (charge.kind === 'window') return judgeWindow(asWindow(state), charge, charge.cost, around);
  return judgeQuota(asQuota(state), book.base(charge.base), charge, charge.cost, around);
};

const figuresOf = (book: CounterBook, charge: RateCharge | QuotaCharge, state: CounterState | undefined, around: Around): Figures => {
  if (charge.kind === 'bucket') return bucketFigures(asBucket(state), charge, around);
  if (charge.kind === 'window') return windowFigures(asWindow(state), charge, around);
  return quotaFigures(asQuota(state), book.base(charge.base), charge, around);
};

export const asBucket = (state: CounterState | undefined): BucketState | undefined => (state !== undefined && 'debt' in state ? state : undefined);
export const asWindow = (state: CounterState | undefined): WindowState | undefined => (state !== undefined && 'startMs' in state ? state : undefined);
export const asQuota = (state: CounterState | undefined): QuotaCount | undefined =>
  state !== undefined && 'count' in state && !('startMs' in state) ? state : undefined;

/** Lines of a check in the order they were judged, lanes after their quota; those of cost 0 change nothing. */
const costly = (lines: readonly Line[]): Line[] =>
  lines.flatMap((line) => (line.lane === undefined ? [line] : [line, line.lane])).filter((line) => line.charge.cost > 0);

const spent = (lines: readonly Line[], book: CounterBook, around: Around): Map<string, CounterChange> => {
  const changes = new Map<string, CounterChange>();
  for (const { charge, draft } of costly(lines)) {
    if (draft.state === undefined) continue;
    changes.set(charge.counter, { kind: 'write', state: draft.state, ttlMs: figuresOf(book, charge, draft.state, around).ttlMs });
  }
  return changes;
};

/** A denial moves no count: it re-bases the time after a step back of the clock, and lengthens a life that the current limit outlasts. */
const kept = (lines: readonly Line[], book: CounterBook, around: Around): Map<string, CounterChange> => {
  const changes = new Map<string, CounterChange>();
  for (const { charge, draft } of costly(lines)) {
    if (draft.state === undefined) continue;
    const neededMs = figuresOf(book, charge, draft.found, around).ttlMs;
    const before = changes.get(charge.counter);
    const state = judgeCharge(book, { ...charge, cost: 0 }, draft.state, { ...around, claimed: 0 }).state ?? draft.state;
    if (state !== draft.state) changes.set(charge.counter, { kind: 'write', state, ttlMs: neededMs });
    else changes.set(charge.counter, { ...(before ?? { kind: 'lengthen' }), ttlMs: Math.max(neededMs, before?.ttlMs ?? 0) });
    draft.state = state;
  }
  return changes;
};

const stateOf = (line: Line, book: CounterBook, around: Around): ChargeState | QuotaState => {
  const { figures } = figuresOf(book, line.charge, line.draft.state, around);
  const state = { ...figures, retryAfterMs: line.retryAfterMs };
  return line.lane === undefined ? state : { ...state, lane: stateOf(line.lane, book, around) };
};

/** What a counter that would live for ever, or shorter than `ttlMs`, is given. */
export const lengthenedTo = (ttlMs: number): number => Math.max(ttlMs, GRACE_MS);
