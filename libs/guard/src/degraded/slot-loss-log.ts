const SECOND_MS = 1000;

/** At most one line a second about slots whose lease ran out under their calls, with how many there were since the last. */
export class SlotLossLog {
  private count = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (line: string) => void) {}

  record(endpointClass: string): void {
    this.count += 1;
    if (this.timer) return;
    this.tell(endpointClass);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.count > 0) this.tell(endpointClass);
    }, SECOND_MS).unref();
  }

  private tell(endpointClass: string): void {
    this.write(`the lease of a slot ran out under its call, so the answer was cut off: count=${this.count} class=${endpointClass}`);
    this.count = 0;
  }
}
