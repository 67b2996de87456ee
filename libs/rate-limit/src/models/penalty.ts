import { MAX_EXACT } from '@quotaplane/contracts';
import type { PenaltyRule } from '../store';
import { GRACE_MS, ttlOf } from './numbers';

/** Strikes and bans of one rate's subject. */
export interface PenaltyState {
  readonly strikes: number;
  readonly firstStrikeMs: number;
  /** Bans in a row; 0 when none is remembered. */
  readonly level: number;
  /** End of the last ban. */
  readonly untilMs: number;
  readonly lastBanMs: number;
}

/** What a strike left, and the ban it began. */
export interface Strike {
  readonly state: PenaltyState;
  readonly banLevel: number | undefined;
}

/**
 * As of `nowMs`; undefined once all is forgiven. After a step back of the clock a ban begins anew at most, and strikes keep their count.
 * The very state where nothing had to be re-based.
 */
export const settledPenalty = (state: PenaltyState | undefined, { forgiveAfterMs }: PenaltyRule, nowMs: number): PenaltyState | undefined => {
  if (state === undefined) return undefined;
  const settled = state.lastBanMs > nowMs || state.firstStrikeMs > nowMs ? rebased(state, nowMs) : state;
  const isForgiven = settled.level > 0 && nowMs >= settled.untilMs && nowMs - settled.untilMs >= forgiveAfterMs;
  return isForgiven ? undefined : settled;
};

const rebased = (state: PenaltyState, nowMs: number): PenaltyState => {
  const firstStrikeMs = Math.min(state.firstStrikeMs, nowMs);
  if (state.lastBanMs <= nowMs) return { ...state, firstStrikeMs };
  return { ...state, firstStrikeMs, lastBanMs: nowMs, untilMs: Math.min(MAX_EXACT, nowMs + Math.max(0, state.untilMs - state.lastBanMs)) };
};

/** ms left of a ban; 0 when there is none. @param state settled */
export const bannedForMs = (state: PenaltyState | undefined, nowMs: number): number => Math.max(0, (state?.untilMs ?? 0) - nowMs);

/** One denial by the rate, outside a ban. @param state settled */
export const strike = (state: PenaltyState | undefined, rule: PenaltyRule, nowMs: number): Strike => {
  const { strikes, firstStrikeMs, level, untilMs, lastBanMs } = state ?? { strikes: 0, firstStrikeMs: nowMs, level: 0, untilMs: 0, lastBanMs: 0 };
  const isFresh = nowMs - firstStrikeMs < rule.withinMs;
  const count = (isFresh ? strikes : 0) + 1;
  if (count < rule.strikes) {
    return { state: { strikes: count, firstStrikeMs: isFresh && strikes > 0 ? firstStrikeMs : nowMs, level, untilMs, lastBanMs }, banLevel: undefined };
  }
  const banned = { strikes: 0, firstStrikeMs: nowMs, level: Math.min(MAX_EXACT, level + 1), untilMs: Math.min(MAX_EXACT, nowMs + banMsAt(level, rule)), lastBanMs: nowMs };
  return { state: banned, banLevel: banned.level };
};

/** `banMs` x `factor` ^ `level`, `maxBanMs` at most. */
const banMsAt = (level: number, { banMs, factor, maxBanMs }: PenaltyRule): number => {
  let lengthMs = banMs;
  if (factor > 1) for (let times = 0; times < level && lengthMs < maxBanMs; times += 1) lengthMs *= factor;
  return Math.min(lengthMs, maxBanMs);
};

/** Until nothing is left to forgive. @param state settled */
export const penaltyTtlMs = ({ strikes, firstStrikeMs, level, untilMs }: PenaltyState, { withinMs, forgiveAfterMs }: PenaltyRule, nowMs: number): number => {
  const strikesMs = strikes > 0 ? Math.max(0, firstStrikeMs + withinMs - nowMs) : 0;
  const bansMs = level > 0 ? Math.max(0, untilMs - nowMs + forgiveAfterMs) : 0;
  return ttlOf(Math.max(strikesMs, bansMs), GRACE_MS);
};
