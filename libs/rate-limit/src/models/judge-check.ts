import type { Charge, ChargeState, Check, QuotaState } from '../store';
import { modelOf } from './counter-models';
import type { CounterState } from './counter-state';
import type { Around, Figures, Judgement } from './judgement';
import { GRACE_MS } from './numbers';
import type { QuotaBase } from './quota';

/** The counters as a check finds them. A value of another kind counts as absent. */
export interface CounterBook {
  read(kind: Charge['kind'], counter: string): CounterState | undefined;
  base(base: string): QuotaBase;
}

/** What a judgement leaves to do on one counter. */
export type CounterChange =
  | { readonly kind: 'write'; readonly of: Charge['kind']; readonly state: CounterState; readonly ttlMs: number }
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
  /** What it claims: its cost, or what a repeat costs. */
  readonly units: number;
  readonly draft: Draft;
  readonly retryAfterMs: number;
  readonly lane?: Line;
  readonly costCap: number | undefined;
  readonly waitMs: number | undefined;
}

/**
 * Judges every charge of a check, then spends all or none: the meaning of judge-and-spend.lua for a check whose head and segment hold.
 * Charges are claimed in order, so two on one counter see each other; what a denial claimed is dropped.
 */
export const judgeCheck = (book: CounterBook, check: Check, nowMs: number): CheckJudgement => {
  const drafts = new Map<string, Draft>();
  const around = { nowMs, segmentLeftMs: check.untilMs - nowMs, baseOf: (base: string) => book.base(base) };
  const lines: Line[] = [];
  for (const charge of check.charges) lines.push(judgeLine(book, drafts, charge, around, lines[0]?.costCap));
  const isAllowed = lines.every(passes);
  if (!isAllowed) for (const draft of drafts.values()) draft.state = draft.found;
  const states = lines.map((line) => stateOf(line, around, isAllowed));
  return isAllowed
    ? { status: 'allowed', states, changes: spent(lines, around) }
    : { status: 'denied', states, changes: kept(lines, around) };
};

const passes = (line: Line): boolean => line.retryAfterMs === 0 && (line.lane === undefined || passes(line.lane));

const draftOf = (book: CounterBook, drafts: Map<string, Draft>, { kind, counter }: Charge): Draft => {
  const known = drafts.get(counter);
  if (known !== undefined) return known;
  const found = book.read(kind, counter);
  const draft = { kind, found, state: found, claimed: 0 };
  drafts.set(counter, draft);
  return draft;
};

const judgeLine = (book: CounterBook, drafts: Map<string, Draft>, charge: Charge, around: Around, costCap: number | undefined): Line => {
  const draft = draftOf(book, drafts, charge);
  const units = charge.kind === 'slot' ? charge.cost : Math.min(charge.cost, costCap ?? Infinity);
  const judgement: Judgement<CounterState> = modelOf(charge.kind).judge(draft.found, charge, units, { ...around, claimed: draft.claimed });
  if (judgement.retryAfterMs === 0 && units > 0) draft.state = judgement.state;
  draft.claimed += units;
  const line = { charge, units, draft, retryAfterMs: judgement.retryAfterMs, costCap: judgement.costCap, waitMs: judgement.waitMs };
  const lane = charge.kind === 'quota' && judgement.lane === true ? charge.lane : undefined;
  return lane === undefined ? line : { ...line, lane: judgeLine(book, drafts, lane, around, costCap) };
};

const figuresOf = (charge: Charge, state: CounterState | undefined, around: Around): Figures => modelOf(charge.kind).figures(state, charge, around);

/** Lines of a check in the order they were judged, lanes after their quota; those of no units change nothing. */
const costly = (lines: readonly Line[]): Line[] =>
  lines.flatMap((line) => (line.lane === undefined ? [line] : [line, line.lane])).filter((line) => line.units > 0);

const spent = (lines: readonly Line[], around: Around): Map<string, CounterChange> => {
  const changes = new Map<string, CounterChange>();
  for (const { charge, draft } of costly(lines)) {
    if (draft.state === undefined) continue;
    changes.set(charge.counter, { kind: 'write', of: charge.kind, state: draft.state, ttlMs: figuresOf(charge, draft.state, around).ttlMs });
  }
  return changes;
};

/** A denial moves no count: it re-bases the time after a step back of the clock, and lengthens a life that the current limit outlasts. */
const kept = (lines: readonly Line[], around: Around): Map<string, CounterChange> => {
  const changes = new Map<string, CounterChange>();
  for (const { charge, draft, retryAfterMs } of costly(lines)) {
    const state = afterDenial(charge, draft.state, around, retryAfterMs);
    if (state === undefined) continue;
    // Told before lines on the same counter moved it, as the script does; a strike needs the life that it makes longer.
    const neededMs = figuresOf(charge, modelOf(charge.kind).deny === undefined ? draft.found : state, around).ttlMs;
    const before = changes.get(charge.counter);
    if (state !== draft.state) changes.set(charge.counter, { kind: 'write', of: charge.kind, state, ttlMs: neededMs });
    else changes.set(charge.counter, { ...(before ?? { kind: 'lengthen' }), ttlMs: Math.max(neededMs, before?.ttlMs ?? 0) });
    draft.state = state;
  }
  return changes;
};

const afterDenial = (charge: Charge, state: CounterState | undefined, around: Around, retryAfterMs: number): CounterState | undefined => {
  const model = modelOf(charge.kind);
  if (model.deny !== undefined) return model.deny(state, charge, around, retryAfterMs) ?? state;
  return state === undefined ? undefined : (model.judge(state, charge, 0, { ...around, claimed: 0 }).state ?? state);
};

/** Figures of the counter as this check leaves it: a denial's strike shows in them. */
const stateOf = (line: Line, around: Around, isAllowed: boolean): ChargeState | QuotaState => {
  const { charge, units, draft, retryAfterMs, waitMs } = line;
  const left = isAllowed || units === 0 ? draft.state : afterDenial(charge, draft.state, around, retryAfterMs);
  const state = { ...figuresOf(charge, left, around).figures, retryAfterMs, ...(isAllowed && waitMs !== undefined ? { waitMs } : {}) };
  return line.lane === undefined ? state : { ...state, lane: stateOf(line.lane, around, isAllowed) };
};

/** What a counter that would live for ever, or shorter than `ttlMs`, is given. */
export const lengthenedTo = (ttlMs: number): number => Math.max(ttlMs, GRACE_MS);
