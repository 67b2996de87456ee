/**
 * Wakes the worker after a commit, so that a change is published at once. Only a speed-up: a sweep finds what was not poked.
 * The outbox room provides it from a global module; without one, changes wait for the sweep.
 */
export abstract class ChangePoke {
  /** Must not throw and must not be waited for. */
  abstract poke(changeId: string): void;
}
