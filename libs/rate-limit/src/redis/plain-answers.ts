import { bucketFigures, judgeBucket } from '../models/bucket';
import type { Figures } from '../models/judgement';
import { judgeQuota, quotaFigures } from '../models/quota';
import { judgeWindow, windowFigures } from '../models/window';
import type { ChargeState, Check, Verdict } from '../store';
import type { PlainBatch } from './plain-batch';
import type { PlainCharge } from './prepared-check';

/** An answer that stands: `stale` is for the other script to tell. */
export type PlainAnswer = Verdict | 'stale';

const STALE = -2;
const OUTSIDE = -3;
const LOST = -4;

/**
 * Answers of judge-plain.lua, in the order of the batch's checks: the script tells the counters after the last check of each group, and the models say
 * what each check of it saw. The cast trusts our own script, which the random histories hold to its header.
 */
export const plainAnswers = (checks: readonly Check[], batch: PlainBatch, reply: unknown): PlainAnswer[] => {
  const figures = reply as readonly number[];
  const nowMs = figures[0] ?? 0;
  setStarts(batch, figures);
  const { groupOf, groupStarts, turnOf } = batch;
  const answers = new Array<PlainAnswer>(checks.length);
  for (let at = 0; at < checks.length; at += 1) {
    const [check, turn] = [checks[at], turnOf[at] ?? 0];
    const start = groupStarts[groupOf[at] ?? 0] ?? 0;
    const passing = figures[start];
    if (check === undefined || passing === undefined) answers[at] = TOO_SHORT;
    else if (passing >= 0) answers[at] = judged(check, turn, nowMs, figures, start, passing);
    else if (passing === STALE) answers[at] = 'stale';
    else answers[at] = { status: passing === OUTSIDE ? 'outside' : 'lost', nowMs };
  }
  return answers;
};

const TOO_SHORT: Verdict = { status: 'unavailable', cause: 'error', detail: 'reply is too short' };

/** Finds where each group's answer begins. */
const setStarts = ({ groups, groupStarts, groupsFilled }: PlainBatch, figures: readonly number[]): void => {
  let at = 1;
  for (let group = 0; group < groupsFilled; group += 1) {
    groupStarts[group] = at;
    const passing = figures[at] ?? LOST;
    at += 1;
    if (passing >= 0) for (const { kind } of groups[group]?.check.charges ?? []) at += kind === 'bucket' ? 1 : 2;
  }
};

/** @param turn how many equal checks were judged before this one @param passing how many of them all pass */
const judged = (check: Check, turn: number, nowMs: number, figures: readonly number[], start: number, passing: number): Verdict => {
  const isAllowed = turn < passing;
  // What the checks after this one spent is not on the counter yet.
  const later = isAllowed ? passing - turn - 1 : 0;
  const around = { nowMs, segmentLeftMs: check.untilMs - nowMs, claimed: 0 };
  const charges = check.charges as readonly PlainCharge[];
  // Of its length at once: one that grows has room for 17.
  const states = new Array<ChargeState>(charges.length);
  let at = start + 1;
  for (let index = 0; index < charges.length; index += 1) {
    const charge = charges[index];
    if (charge === undefined) continue;
    const [amount = 0, second = 0] = [figures[at], figures[at + 1]];
    at += charge.kind === 'bucket' ? 1 : 2;
    states[index] = stateOf(charge, amount, second, later, isAllowed, around);
  }
  return { status: isAllowed ? 'allowed' : 'denied', nowMs, states };
};

interface Around {
  readonly nowMs: number;
  readonly segmentLeftMs: number;
  readonly claimed: number;
}

const stateOf = (charge: PlainCharge, amount: number, second: number, later: number, isAllowed: boolean, around: Around): ChargeState => {
  if (charge.kind === 'bucket') {
    const state = { debt: amount - later * charge.cost * charge.windowMs, timeMs: around.nowMs };
    const retryAfterMs = isAllowed ? 0 : judgeBucket(state, charge, charge.cost, around).retryAfterMs;
    return chargeState(bucketFigures(state, charge, around), retryAfterMs);
  }
  if (charge.kind === 'window') {
    const state = { count: amount - later * charge.cost, startMs: second };
    const retryAfterMs = isAllowed ? 0 : judgeWindow(state, charge, charge.cost, around).retryAfterMs;
    return chargeState(windowFigures(state, charge, around), retryAfterMs);
  }
  const state = { count: amount - later * charge.cost };
  const base = { plus: second, minus: 0 };
  const retryAfterMs = isAllowed ? 0 : judgeQuota(state, base, charge, charge.cost, around).retryAfterMs;
  return chargeState(quotaFigures(state, base, charge, around), retryAfterMs);
};

/** Member by member: a spread would take longer than the figures. */
const chargeState = ({ figures: { remaining, resetAfterMs, moreAfterMs } }: Figures, retryAfterMs: number): ChargeState =>
  ({ remaining, resetAfterMs, retryAfterMs, moreAfterMs });
