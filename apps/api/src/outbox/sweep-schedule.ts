import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { REDIS } from '../database/redis';
import { SWEEPS, SWEEPS_QUEUE, type Sweep } from './queue-names';

/** A slot that is due for longer, ms, has nobody who would come for it: who took the one before died, or lost Redis, before the next was named. */
const LATE_MS = 3_000;

/** Keeps the queue's own schedules in place: they live in Redis and are lost with it. */
@Injectable()
export class SweepSchedule {
  constructor(@InjectQueue(SWEEPS_QUEUE) private readonly queue: Queue, @Inject(REDIS) private readonly redis: Redis) {
    queue.on('error', () => undefined);
  }

  /** Upserting a schedule that stands is harmless, also from several workers at once (C071). A stopped one goes on within seconds, not when its job is found stalled after a minute (C070). */
  async ensure(): Promise<void> {
    const standing = await this.redis.zrange(this.queue.toKey('repeat'), 0, -1, 'WITHSCORES');
    const nextAtMs = new Map(standing.flatMap((name, index) => (index % 2 === 0 ? [[name, Number(standing[index + 1])] as const] : [])));
    const lateMs = Date.now() - LATE_MS;
    const lacking = (Object.keys(SWEEPS) as Sweep[]).filter((name) => !((nextAtMs.get(name) ?? 0) > lateMs));
    await Promise.all(lacking.map((name) =>
      this.queue.upsertJobScheduler(name, { every: SWEEPS[name] }, { name, opts: { removeOnComplete: true, removeOnFail: true } })));
  }
}
