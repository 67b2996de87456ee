import { awaitTurn } from '../decide/await-turn';
import type { GuardDecision } from '../decide/guard-decision';
import type { CallAnswer } from './call-answer';

/**
 * Does what a decision asks for around its call: waits for the turn in a queue, gives back at the end what is owed, and cuts the answer off when the
 * slot it holds was lost.
 * @returns false where the caller has gone before its turn: nothing may run for it
 */
export function settleWith(answer: CallAnswer, decision: GuardDecision): boolean | Promise<boolean> {
  const { release, whenSlotLost, waitMs } = decision;
  whenSlotLost?.(() => answer.cut());
  if (!release && waitMs === undefined) return true;
  const gone = new AbortController();
  answer.onEnd((outcome) => {
    gone.abort();
    release?.(outcome);
  });
  return awaitTurn(decision, gone.signal);
}
