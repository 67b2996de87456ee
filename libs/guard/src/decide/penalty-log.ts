import { redisKeys, type AutomaticPenalty, type Scope } from '@quotaplane/contracts';
import { FlushLoop, type FlushOptions } from '@quotaplane/usage';

export interface PenaltyRedis {
  hset(key: string, ...fieldsAndValues: string[]): Promise<unknown>;
}

/** Whom a limit's penalty banned, and for how long. */
export interface Ban extends AutomaticPenalty {
  readonly tenant: string;
  readonly limit: string;
  readonly scope: Scope;
  readonly subject: string;
}

export interface PenaltyLogOptions extends FlushOptions {
  readonly redis: PenaltyRedis;
  /** Most bans kept between two flushes; more are dropped. Default 1,000. */
  readonly maxEntries?: number;
  /** Told of bans that found no room: they hold all the same, but no list shows them. */
  readonly onDropped?: (count: number) => void;
}

/**
 * Tells the control plane of bans that began here, each second and never on the way of a decision. The ban itself stands beside the subject's counter;
 * this is its entry in the list of penalties.
 */
export class PenaltyLog {
  private pending = new Map<string, string>();
  private readonly loop: FlushLoop;

  constructor(private readonly options: PenaltyLogOptions) {
    this.loop = new FlushLoop(() => this.write(), options);
  }

  start(): void {
    this.loop.start();
  }

  began({ tenant, limit, scope, subject, counter, startedMs, untilMs, level }: Ban): void {
    const entry: AutomaticPenalty = { counter, startedMs, untilMs, level };
    this.keep(JSON.stringify([tenant, limit, scope, subject]), JSON.stringify(entry));
  }

  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  async close(): Promise<void> {
    await this.loop.stop();
    await this.loop.runOnce();
  }

  private keep(name: string, entry: string): void {
    const isFull = this.pending.size >= (this.options.maxEntries ?? 1000) && !this.pending.has(name);
    if (isFull) this.options.onDropped?.(1);
    else this.pending.set(name, entry);
  }

  private async write(): Promise<void> {
    if (this.pending.size === 0) return;
    const taken = this.pending;
    this.pending = new Map();
    try {
      await this.options.redis.hset(redisKeys.penalties, ...[...taken].flat());
    } catch (error) {
      // Writing one twice does no harm; a newer ban of the same subject stays.
      for (const [name, entry] of taken) if (!this.pending.has(name)) this.keep(name, entry);
      throw error;
    }
  }
}
