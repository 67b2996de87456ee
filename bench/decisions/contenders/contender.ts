import type { Scenario } from '../scenario';

/** One decision about the subject of that number: whether it may go on. */
export type Ask = (subject: number) => Promise<boolean>;

/** A way to limit calls, connected to the bench's Redis. It has what it can be asked. */
export interface Contender {
  readonly asks: Readonly<Partial<Record<Scenario, Ask>>>;
  close(): Promise<void>;
}

/** Keys as a service would have them at hand: made once, so that no contender pays for their text. */
export const keysOf = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A contender that would be measured at something else than its work. */
export class ContenderError extends Error {
  override readonly name = 'ContenderError';
}
