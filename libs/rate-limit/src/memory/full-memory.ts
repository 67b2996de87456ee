import type { ChargeState, Check, QuotaState } from '../store';

/** States of a check that was denied because its new counters found no room: those charges wait for the first counter to expire. */
export const admittedNothing = (
  check: Check, states: readonly (ChargeState | QuotaState)[], added: ReadonlySet<string>, roomAfterMs: number,
): (ChargeState | QuotaState)[] =>
  states.map((state, at) => {
    const charge = check.charges[at];
    if (charge === undefined) return state;
    const figures = added.has(charge.counter) ? withoutRoom(state, roomAfterMs) : state;
    const lane = charge.kind === 'quota' && charge.lane !== undefined && added.has(charge.lane.counter) && 'lane' in state ? state.lane : undefined;
    return lane === undefined ? figures : { ...figures, lane: withoutRoom(lane, roomAfterMs) };
  });

const withoutRoom = <State extends ChargeState>(state: State, roomAfterMs: number): State => ({
  ...state, remaining: 0, resetAfterMs: roomAfterMs, retryAfterMs: roomAfterMs, moreAfterMs: roomAfterMs,
});
