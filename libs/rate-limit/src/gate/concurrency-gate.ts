import type { LimitStore } from '../store';
import { GateFullError, GateTimeoutError, InvalidGateOptionError } from './gate-errors';
import { GateSlots, type GateSlot } from './gate-slots';

export interface ConcurrencyGateOptions {
  readonly store: LimitStore;
  /** Whose tasks are capped. */
  readonly tenant: string;
  /** What is capped, such as `reports-pool`. Gates of one tenant and name share their slots over all processes. */
  readonly name: string;
  /** Most tasks at once over all processes; 0 runs none. */
  readonly limit: number;
  /** Most tasks that wait in this process; 0 refuses at once. */
  readonly maxQueue: number;
  /** Longest wait of a task. */
  readonly maxWaitMs: number;
  /** This process's share of the limit while the store is away: the limit divided by the processes, say. All of it when left out. */
  readonly shareOf?: (limit: number) => number;
  /** Budget of one call to the store; 25 ms when left out. */
  readonly deadlineMs?: number;
}

export interface ConcurrencyGate {
  /**
   * Runs the task once it has a slot, and gives the slot back once the task has settled, however it does.
   * @param task its signal is aborted with `signal`, and when the slot was lost
   * @param options `signal` takes a waiting task out of the queue, and is handed to a running one
   * @throws {GateFullError} `maxQueue` tasks wait already
   * @throws {GateTimeoutError} no slot within `maxWaitMs`
   * @throws the signal's reason, when it was aborted before the task began; and what the task throws
   */
  run<Result>(task: (signal: AbortSignal) => Promise<Result> | Result, options?: { readonly signal?: AbortSignal }): Promise<Result>;
  /** Tasks of this process that run. */
  readonly running: number;
  /** Tasks of this process that wait. */
  readonly waiting: number;
}

/** One task in the queue. */
interface Waiter {
  take(slot: GateSlot): void;
}

const DEADLINE_MS = 25;
/** Most slots asked for at once when some may have come free. */
const ASK_AT_ONCE = 32;

/**
 * Caps how many tasks of a tenant use a resource at once, over all processes: the connections of a pool, say. Tasks wait in the order they came; whoever
 * comes while others wait queues behind them. Other processes' releases are found by asking again after the store's hint (1 s).
 * @throws {InvalidGateOptionError}
 */
export const createConcurrencyGate = (options: ConcurrencyGateOptions): ConcurrencyGate => new QueueingGate(options);

/** A longer timer fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

class QueueingGate implements ConcurrencyGate {
  private readonly slots: GateSlots;
  private readonly queue = new Set<Waiter>();
  private readonly label: string;
  private releases = 0;
  private isAsking = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ConcurrencyGateOptions) {
    for (const option of ['limit', 'maxQueue', 'maxWaitMs'] as const) {
      if (!Number.isSafeInteger(options[option]) || options[option] < 0) throw new InvalidGateOptionError(option, options[option]);
    }
    if (options.maxWaitMs > TIMER_MAX_MS) throw new InvalidGateOptionError('maxWaitMs', options.maxWaitMs);
    this.label = `${options.tenant}/${options.name}`;
    this.slots = new GateSlots({ shareOf: (limit) => limit, deadlineMs: DEADLINE_MS, ...options });
  }

  get running(): number {
    return this.slots.running;
  }

  get waiting(): number {
    return this.queue.size;
  }

  async run<Result>(task: (signal: AbortSignal) => Promise<Result> | Result, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Result> {
    signal?.throwIfAborted();
    const slot = await this.slotFor(signal);
    try {
      signal?.throwIfAborted();
      return await task(signal === undefined ? slot.signal : AbortSignal.any([signal, slot.signal]));
    } finally {
      this.giveBack(slot);
    }
  }

  private async slotFor(signal: AbortSignal | undefined): Promise<GateSlot> {
    if (this.queue.size === 0) {
      const releases = this.releases;
      const answer = await this.slots.ask();
      if ('slot' in answer) return answer.slot;
      // One may have come free between the store's word and its arrival.
      this.askAfter(releases === this.releases ? answer.retryAfterMs : 0);
    }
    if (this.queue.size >= this.options.maxQueue) throw new GateFullError(this.label, this.options.maxQueue);
    return this.wait(signal);
  }

  private wait(signal: AbortSignal | undefined): Promise<GateSlot> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.queue.delete(waiter);
      };
      const waiter: Waiter = {
        take: (slot) => {
          leave();
          resolve(slot);
        },
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new GateTimeoutError(this.label, this.options.maxWaitMs));
      }, this.options.maxWaitMs);
      signal?.addEventListener('abort', abort);
      this.queue.add(waiter);
      if (signal?.aborted === true) abort();
    });
  }

  private giveBack(slot: GateSlot): void {
    slot.release();
    this.releases += 1;
    void this.serve();
  }

  /** Asks for as many slots as wait, and asks again where one was given back meanwhile or all were given. */
  private async serve(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      let retryAfterMs: number | undefined = 0;
      while (this.queue.size > 0 && retryAfterMs === 0) {
        const releases = this.releases;
        retryAfterMs = await this.askForMany(Math.min(this.queue.size, ASK_AT_ONCE));
        if (releases !== this.releases) retryAfterMs = 0;
      }
      if (this.queue.size > 0) this.askAfter(retryAfterMs);
    } finally {
      this.isAsking = false;
    }
  }

  /** @returns 0 when all were given, else the store's hint */
  private async askForMany(count: number): Promise<number> {
    const answers = await Promise.all(Array.from({ length: count }, () => this.slots.ask()));
    let retryAfterMs = 0;
    for (const answer of answers) {
      if (!('slot' in answer)) {
        retryAfterMs = Math.max(1, answer.retryAfterMs);
        continue;
      }
      const [next] = this.queue;
      // It gave up while the store was asked.
      if (next === undefined) answer.slot.release();
      else next.take(answer.slot);
    }
    return retryAfterMs;
  }

  private askAfter(ms: number): void {
    clearTimeout(this.timer);
    // Whoever waits has a timer of its own that keeps the process alive.
    this.timer = setTimeout(() => void this.serve(), Math.min(Math.max(0, ms), this.options.maxWaitMs));
    this.timer.unref();
  }
}
