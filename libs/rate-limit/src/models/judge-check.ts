import type { Charge, ChargeState, Check, PenaltyRule, QuotaState } from '../store';
import { modelOf, type CounterKind } from './counter-models';
import type { CounterState } from './counter-state';
import type { Around, Figures, Judgement } from './judgement';
import { GRACE_MS } from './numbers';
import { bannedForMs, penaltyTtlMs, settledPenalty, strike, type PenaltyState } from './penalty';
import type { QuotaBase } from './quota';
import { retryUnits } from './retry';

/** The counters as a check finds them. A value of another kind counts as absent. */
export interface CounterBook {
  read(kind: CounterKind, counter: string): CounterState | undefined;
  base(base: string): QuotaBase;
}

/** What a judgement leaves to do on one counter. */
export type CounterChange =
  | { readonly kind: 'write'; readonly of: CounterKind; readonly state: CounterState; readonly ttlMs: number }
  /** Only the life: to `ttlMs` where it is shorter; a counter that would live for ever gets at least the grace. */
  | { readonly kind: 'lengthen'; readonly ttlMs: number };

export interface CheckJudgement {
  readonly status: 'allowed' | 'denied';
  readonly states: readonly (ChargeState | QuotaState)[];
  readonly changes: ReadonlyMap<string, CounterChange>;
}

/** A counter while one check is judged. */
interface Draft {
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
  readonly ban?: BanLine;
}

/** The penalty beside a rate. What a denial left, and what it began, are settled once the whole check is judged. */
interface BanLine {
  readonly rule: PenaltyRule;
  readonly draft: Draft;
  /** When the rate was judged. */
  readonly bannedMs: number;
  leftMs: number;
  began: number | undefined;
}

/**
 * Judges every charge of a check, then spends all or none: the meaning of judge-and-spend.lua for a check whose head and segment hold.
 * Charges are claimed in order, so two on one counter see each other; what a denial claimed is dropped.
 */
export const judgeCheck = (book: CounterBook, check: Check, nowMs: number): CheckJudgement => {
  const drafts = new Map<string, Draft>();
  const around = { nowMs, segmentLeftMs: check.untilMs - nowMs, baseOf: (base: string) => book.base(base) };
  const lines: Line[] = [];
  for (const charge of check.charges) {
    const units = charge.kind === 'retry' ? retryUnits(check.charges) : charge.cost;
    lines.push(judgeLine(book, drafts, charge, units, around, lines[0]?.costCap));
  }
  const isAllowed = lines.every(passes);
  if (!isAllowed) for (const draft of drafts.values()) draft.state = draft.found;
  const strikes = isAllowed ? [] : struck(lines, nowMs);
  const states = lines.map((line) => stateOf(line, around, isAllowed));
  return isAllowed
    ? { status: 'allowed', states, changes: spent(lines, around) }
    : { status: 'denied', states, changes: new Map([...kept(lines, around), ...strikes]) };
};

const passes = (line: Line): boolean => line.retryAfterMs === 0 && (line.ban?.bannedMs ?? 0) === 0 && (line.lane === undefined || passes(line.lane));

const draftOf = (book: CounterBook, drafts: Map<string, Draft>, kind: CounterKind, counter: string): Draft => {
  const known = drafts.get(counter);
  if (known !== undefined) return known;
  const found = book.read(kind, counter);
  const draft = { found, state: found, claimed: 0 };
  drafts.set(counter, draft);
  return draft;
};

const judgeLine = (book: CounterBook, drafts: Map<string, Draft>, charge: Charge, cost: number, around: Around, costCap: number | undefined): Line => {
  const draft = draftOf(book, drafts, charge.kind, charge.counter);
  const units = charge.kind === 'slot' ? cost : Math.min(cost, costCap ?? Infinity);
  const judgement: Judgement<CounterState> = modelOf(charge.kind).judge(draft.found, charge, units, { ...around, claimed: draft.claimed });
  if (judgement.retryAfterMs === 0 && units > 0) draft.state = judgement.state;
  draft.claimed += units;
  const ban = banLineOf(book, drafts, charge, around.nowMs);
  const line = { charge, units, draft, retryAfterMs: judgement.retryAfterMs, costCap: judgement.costCap, waitMs: judgement.waitMs, ...(ban && { ban }) };
  const lane = charge.kind === 'quota' && judgement.lane === true ? charge.lane : undefined;
  return lane === undefined ? line : { ...line, lane: judgeLine(book, drafts, lane, lane.cost, around, costCap) };
};

const banLineOf = (book: CounterBook, drafts: Map<string, Draft>, charge: Charge, nowMs: number): BanLine | undefined => {
  if (!('penalty' in charge) || charge.penalty === undefined) return undefined;
  const draft = draftOf(book, drafts, 'penalty', charge.penalty.counter);
  const leftMs = bannedForMs(settledPenalty(asPenalty(draft.found), charge.penalty, nowMs), nowMs);
  return { rule: charge.penalty, draft, bannedMs: leftMs, leftMs, began: undefined };
};

const asPenalty = (state: CounterState | undefined): PenaltyState | undefined => (state !== undefined && 'strikes' in state ? state : undefined);

/** Strikes of a denied check, by the charges that their own rates denied outside a ban; each ban is told once. */
const struck = (lines: readonly Line[], nowMs: number): [string, CounterChange][] =>
  lines.flatMap(({ ban, units, retryAfterMs }): [string, CounterChange][] => {
    if (ban === undefined) return [];
    const { rule, draft } = ban;
    const settled = settledPenalty(asPenalty(draft.state), rule, nowMs);
    ban.leftMs = bannedForMs(settled, nowMs);
    if (units === 0) return [];
    const isStrike = retryAfterMs > 0 && bannedForMs(settled, nowMs) === 0;
    const { state, banLevel } = isStrike ? strike(settled, rule, nowMs) : { state: settled, banLevel: undefined };
    [draft.state, ban.leftMs, ban.began] = [state, bannedForMs(state, nowMs), banLevel];
    if (state === undefined) return [];
    const ttlMs = penaltyTtlMs(state, rule, nowMs);
    const isMoved = state !== asPenalty(draft.found);
    return [[rule.counter, isMoved ? { kind: 'write', of: 'penalty', state, ttlMs } : { kind: 'lengthen', ttlMs }]];
  });

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
  const { charge, units, draft, retryAfterMs, waitMs, costCap } = line;
  const left = isAllowed || units === 0 ? draft.state : afterDenial(charge, draft.state, around, retryAfterMs);
  const state = {
    ...figuresOf(charge, left, around).figures, retryAfterMs,
    ...(isAllowed && waitMs !== undefined && { waitMs }), ...(costCap !== undefined && { repeatCost: costCap }), ...banFigures(line),
  };
  return line.lane === undefined ? state : { ...state, lane: stateOf(line.lane, around, isAllowed) };
};

/** A wait that a lone client passes after covers the ban; a cost above the capacity passes never. */
const banFigures = ({ ban, retryAfterMs }: Line): Partial<ChargeState> => {
  if (ban === undefined || ban.leftMs === 0) return {};
  const coveredMs = retryAfterMs < 0 ? retryAfterMs : Math.max(retryAfterMs, ban.leftMs);
  return { retryAfterMs: coveredMs, bannedMs: ban.leftMs, ...(ban.began !== undefined && { banLevel: ban.began }) };
};

/** What a counter that would live for ever, or shorter than `ttlMs`, is given. */
export const lengthenedTo = (ttlMs: number): number => Math.max(ttlMs, GRACE_MS);
