import type { Check } from '../store';
import { causeOf } from './outage';
import { NotReadyError } from './prompt-cluster';

/** ioredis' word for a command that found no connection to go out on. */
const NEVER_SENT = "Stream isn't writeable";

/**
 * Whether the store may have carried out a call that failed so. An error reply is its word that it did not; every other failure is that of a connection,
 * and the call may have been on it.
 */
export const mayHaveRun = (error: unknown): boolean =>
  causeOf(error) === 'disconnected' && !(error instanceof NotReadyError) && !(error instanceof Error && error.message.startsWith(NEVER_SENT));

/** Tells the caller of a check that the store may have counted it for nobody. A check of no units has nothing to be in doubt about. */
export const tellDoubt = ({ charges, onDoubt }: Check): void => {
  if (onDoubt === undefined || !charges.some(({ kind, cost }) => cost > 0 && kind !== 'slot' && kind !== 'retry')) return;
  // In a turn of its own, as a lost slot is told: what the caller makes of it cannot break the neighbours of its batch.
  queueMicrotask(onDoubt);
};

/** The same check for its parts, of which only the first one's doubt is told. */
export const toldOnce = (check: Check): Check => {
  const { onDoubt } = check;
  if (onDoubt === undefined) return check;
  let isTold = false;
  const first = (): void => {
    if (isTold) return;
    isTold = true;
    onDoubt();
  };
  return { ...check, onDoubt: first };
};
