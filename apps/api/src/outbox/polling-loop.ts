import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `work` over and over until stopped, one run at a time. A failing run is reported and tried again a little later.
 * These loops are no jobs of the queue on purpose: they must run when Redis has just lost everything, the queue included.
 */
export class PollingLoop {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly options: { readonly everyMs: number; readonly afterErrorMs: number; readonly onError: (error: Error) => void },
  ) {}

  start(): void {
    this.running ??= this.loop();
  }

  /** Waits for the run under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      let pauseMs = this.options.everyMs;
      try {
        await this.work();
      } catch (error) {
        pauseMs = this.options.afterErrorMs;
        this.options.onError(error instanceof Error ? error : new Error(String(error)));
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Lets the first of a row of equal messages through, so that an outage is one line and not one each second. */
export class RepeatedMessage {
  private last = '';

  constructor(private readonly write: (message: string) => void) {}

  say(message: string): void {
    if (message !== this.last) this.write(message);
    this.last = message;
  }

  forget(): void {
    this.last = '';
  }
}
