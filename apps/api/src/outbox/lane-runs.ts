/** One run at a time of work that looks for itself what there is to do. A call during a run joins it, and the run looks once more before it ends. */
export class LaneRuns {
  private running: Promise<void> | undefined;
  private isPokedAgain = false;

  /** @param work does a part of what waits; answers whether there may be more at once */
  constructor(private readonly work: () => Promise<boolean>) {}

  poke(): Promise<void> {
    this.isPokedAgain = true;
    this.running ??= this.run();
    return this.running;
  }

  /** The run under way, if there is one, and whatever becomes of it. */
  async untilIdle(): Promise<void> {
    await this.running?.catch(() => undefined);
  }

  private async run(): Promise<void> {
    // Only then is the run the one that it leaves.
    await Promise.resolve();
    try {
      while (this.isPokedAgain) {
        this.isPokedAgain = false;
        while (await this.work());
      }
    } finally {
      // In the same turn as the last look at the flag, or a poke in between would join a run that is over.
      this.running = undefined;
    }
  }
}
