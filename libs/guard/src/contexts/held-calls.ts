import type { OnCallEnd } from '../http/response-end';
import type { CallAnswer } from '../limiter/call-answer';

/** Longest time from admission until the handler's interceptor takes the call over, in ms; only guards that come after ours stand between. */
const TAKE_OVER_MS = 10_000;

interface HeldCall {
  readonly onEnd: OnCallEnd;
  readonly timer: NodeJS.Timeout;
}

const held = new WeakMap<object, HeldCall>();

/**
 * Keeps what has to happen at the end of a call that has no response to watch, until {@link takeHeld} takes it over. When nobody does, a later guard
 * has refused the call, or nobody watches its end: nothing is held any longer then, and nothing given back.
 */
export function holdCall(token: object, onEnd: OnCallEnd): void {
  const timer = setTimeout(() => takeHeld(token)?.({ statusCode: 200, isAborted: false }), TAKE_OVER_MS);
  timer.unref();
  held.set(token, { onEnd, timer });
}

/** What has to be called at the end of this call, once; undefined where nothing is held. */
export function takeHeld(token: object): OnCallEnd | undefined {
  const call = held.get(token);
  if (!call) return undefined;
  clearTimeout(call.timer);
  held.delete(token);
  return call.onEnd;
}

/** The answer of a call that has no fields and no end of its own. */
export function heldAnswer(token: object): CallAnswer {
  return { set: () => undefined, onEnd: (listener) => holdCall(token, listener), cut: () => undefined };
}
