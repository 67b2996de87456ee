const MINUTE_MS = 60_000;

/** At most one line per endpoint class and minute, with the number of faults since the last one: callers cause them and must not fill the log. */
export class CostFaultLog {
  private readonly classes = new Map<string, { saidAtMs: number; unsaid: number }>();

  /** @param now monotonic ms */
  constructor(
    private readonly write: (line: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  record(className: string, fault: string): void {
    const nowMs = this.now();
    const known = this.classes.get(className);
    if (known && nowMs - known.saidAtMs < MINUTE_MS) {
      known.unsaid += 1;
      return;
    }
    this.classes.set(className, { saidAtMs: nowMs, unsaid: 0 });
    this.write(`@Cost of endpoint class ${className}: ${fault}; refused with 422, count=${(known?.unsaid ?? 0) + 1}`);
  }
}
