/** What the loops of this room need to know of the outside. */
export interface FlushOptions {
  /** Between two flushes, in ms; default 1,000. */
  readonly intervalMs?: number;
  /** Told of each failed flush; nothing is lost by one, the next flush carries it. */
  readonly onError?: (error: Error) => void;
}

/** Runs one flush at a time, each `intervalMs`, without keeping the process alive. */
export class FlushLoop {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly flush: () => Promise<void>, private readonly options: FlushOptions = {}) {}

  start(): void {
    this.timer ??= setInterval(() => void this.runOnce(), this.options.intervalMs ?? 1000).unref();
  }

  /** Flushes now, after the one under way; a failure goes to `onError` and answers false. */
  async runOnce(): Promise<boolean> {
    if (this.running) return this.running.then(() => true, () => false);
    this.running = this.flush();
    try {
      await this.running;
      return true;
    } catch (error) {
      this.options.onError?.(error instanceof Error ? error : new Error(String(error)));
      return false;
    } finally {
      this.running = undefined;
    }
  }

  /** Stops the loop and waits for the flush under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.running?.catch(() => undefined);
  }
}
