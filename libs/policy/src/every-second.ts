/**
 * Runs a job now and then each second, one at a time; a run that takes longer than `patienceMs` is no longer waited for
 * (a store that hangs answers nothing), so that the next one can find the store back. Keeps no process alive.
 */
export class EverySecond {
  private timer: NodeJS.Timeout | undefined;
  private startedAtMs = Number.NEGATIVE_INFINITY;
  private isRunning = false;

  constructor(
    private readonly job: () => Promise<void>,
    private readonly patienceMs = 2_000,
  ) {}

  /** @returns the first run; at most `patienceMs` */
  async start(): Promise<void> {
    if (this.timer !== undefined) return;
    this.timer = setInterval(() => void this.run(), 1_000);
    this.timer.unref();
    await Promise.race([this.run(), new Promise((resolve) => setTimeout(resolve, this.patienceMs).unref())]);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async run(): Promise<void> {
    const nowMs = performance.now();
    if (this.isRunning && nowMs - this.startedAtMs < this.patienceMs) return;
    this.isRunning = true;
    this.startedAtMs = nowMs;
    try {
      await this.job();
    } finally {
      if (this.startedAtMs === nowMs) this.isRunning = false;
    }
  }
}
