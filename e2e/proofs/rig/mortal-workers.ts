import { setTimeout as sleep } from 'node:timers/promises';
import type { Process, Stack } from './stack';

/** A step is not always on a worker's way; after this long it is killed wherever it is, ms. */
const PATIENCE_MS = 15_000;
const AFTER_FAILED_START_MS = 300;

const EVERY_SECOND = ['fold.before-commit', 'fold.after-commit', 'fold.before-ack', 'base.before-write', 'publish.after-redis'] as const;
/** Steps of the worker at which a death leaves one store ahead of the other; those that every second has come twice as often as the others. */
export const DEADLY_STEPS = [...EVERY_SECOND, 'reconcile.before-commit', ...EVERY_SECOND, 'quota.before-commit'] as const;

/** Workers that die at a named step, each with the next one in its place, until they are let live. */
export class MortalWorkers {
  /** Deaths by step; `elsewhere`: killed where they were. */
  readonly deaths = new Map<string, number>();
  private readonly lanes: Promise<void>[];
  private turn = 0;
  private isOver = false;

  constructor(private readonly stack: Stack, count: number, private readonly steps: readonly string[] = DEADLY_STEPS) {
    this.lanes = Array.from({ length: count }, () => this.lane());
  }

  get total(): number {
    return [...this.deaths.values()].reduce((sum, deaths) => sum + deaths, 0);
  }

  /** The last of them die; nobody takes their place. */
  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes);
  }

  private async lane(): Promise<void> {
    while (!this.isOver) {
      const turn = this.turn++;
      const step = this.steps[turn % this.steps.length] ?? '';
      // Not at the first passing alone: what a life did before is then half of the story.
      const nth = 1 + (Math.floor(turn / this.steps.length) % 3);
      const worker = await this.stack.startWorker({ QUOTAPLANE_FAILPOINT: `${step}:${nth}` }).catch(() => undefined);
      // A store that is away lets none start.
      if (!worker) await sleep(AFTER_FAILED_START_MS);
      else await this.untilDead(worker, step);
    }
  }

  private async untilDead({ script }: Process, step: string): Promise<void> {
    for (const startedAt = performance.now(); !script.hasEnded() && !this.isOver && performance.now() - startedAt < PATIENCE_MS;) await sleep(20);
    const isAtStep = script.child.signalCode === 'SIGKILL';
    if (!script.hasEnded()) await script.end('SIGKILL');
    const place = isAtStep ? step : 'elsewhere';
    this.deaths.set(place, (this.deaths.get(place) ?? 0) + 1);
  }
}
