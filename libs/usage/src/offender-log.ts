import { randomUUID } from 'node:crypto';
import { MINUTE_STATS_TTL_MS, redisKeys } from '@quotaplane/contracts';
import { FlushLoop } from './flush-loop';
import { minuteOf, type MinuteLogOptions } from './minute-log';
import { OffenderMinute, type Denial, type OffenderSubject } from './offender-minute';
import type { RetryResult } from './retry-watch';

export interface OffenderLogOptions extends MinuteLogOptions {
  /** Subjects counted apart in each minute, default 500: with fewer every figure is exact, with more it is off by denials / 500 at most. */
  readonly counters?: number;
}

/** Minutes that wait for a store that is away; older ones are dropped and told. */
const MINUTES_WAITING_MAX = 5;

interface Life {
  readonly field: string;
  readonly counts: OffenderMinute;
  isDirty: boolean;
}

/**
 * Who was denied, by minute: each node keeps a sketch of bounded size a minute and writes the whole of it each second into a field of its
 * own, so that a repeated or lost write changes nothing. Readers add the nodes' figures up, and their errors with them.
 */
export class OffenderLog {
  private readonly node = randomUUID();
  private readonly waiting: Life[] = [];
  private readonly loop: FlushLoop;
  private current: Life | undefined;
  private lives = 0;

  constructor(private readonly options: OffenderLogOptions) {
    this.loop = new FlushLoop(() => this.write(), options);
  }

  start(): void {
    this.loop.start();
  }

  record(denial: Denial): void {
    const atMs = Math.floor(this.options.storeNow());
    const life = this.lifeAt(atMs);
    life.counts.denied(denial, atMs);
    life.isDirty = true;
  }

  /** A subject that had been told to wait has called again; see RetryWatch. */
  retried(subject: OffenderSubject, result: RetryResult): void {
    const life = this.lifeAt(this.options.storeNow());
    if (life.counts.retried(subject, result === 'early' ? 'early' : 'waited')) life.isDirty = true;
    else this.options.onDropped?.(1);
  }

  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  async close(): Promise<void> {
    await this.loop.stop();
    if (await this.loop.runOnce()) return;
    for (const life of this.unwritten()) this.options.onDropped?.(life.counts.total);
  }

  private lifeAt(atMs: number): Life {
    const minute = minuteOf(atMs);
    if (this.current?.counts.minute === minute) return this.current;
    if (this.current?.isDirty) this.waiting.push(this.current);
    if (this.waiting.length > MINUTES_WAITING_MAX) this.options.onDropped?.(this.waiting.shift()?.counts.total ?? 0);
    // A field is never used twice: a store clock that steps back over a minute's end must not make a node overwrite itself.
    const field = `${this.node}.${++this.lives}`;
    this.current = { field, counts: new OffenderMinute(minute, this.options.counters ?? 500), isDirty: false };
    return this.current;
  }

  private unwritten(): Life[] {
    return [...this.waiting, ...(this.current ? [this.current] : [])].filter(({ isDirty }) => isDirty);
  }

  private async write(): Promise<void> {
    for (const life of this.unwritten()) {
      // Marked before the write: what is counted while it is under way has to be written again.
      life.isDirty = false;
      try {
        await this.put(life);
      } catch (error) {
        life.isDirty = true;
        throw error;
      }
      const index = this.waiting.indexOf(life);
      if (index >= 0) this.waiting.splice(index, 1);
    }
  }

  private async put({ field, counts }: Life): Promise<void> {
    const key = redisKeys.offenders(counts.minute);
    const replies = await this.options.redis.multi().hset(key, field, JSON.stringify(counts.document())).pexpire(key, MINUTE_STATS_TTL_MS).exec();
    const failed = replies?.find(([error]) => error)?.[0];
    if (!replies || failed) throw failed ?? new Error('the offender flush was discarded');
  }
}
