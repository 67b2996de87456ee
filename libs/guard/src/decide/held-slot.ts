/**
 * The slot that one call holds. Its lease may run out under it, when this process or its store stalled too long: somebody else may have the slot
 * by then, so the answer has to end.
 */
export class HeldSlot {
  private isLost = false;
  private end: (() => void) | undefined;

  /** @param onLost told once, for a metric and a line in the log */
  constructor(private readonly onLost: () => void) {}

  /** The store's word that the lease ran out. */
  readonly lose = (): void => {
    if (this.isLost) return;
    this.isLost = true;
    this.onLost();
    this.end?.();
  };

  /** @param end cuts the answer off; called once, at once where the slot is lost already */
  readonly whenLost = (end: () => void): void => {
    if (this.isLost) return end();
    this.end = end;
  };
}
