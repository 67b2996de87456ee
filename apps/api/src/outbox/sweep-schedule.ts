import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { REDIS } from '../database/redis';
import { SWEEPS, SWEEPS_QUEUE, type Sweep } from './queue-names';

/** Keeps the queue's own schedules in place: they live in Redis and are lost with it. */
@Injectable()
export class SweepSchedule {
  constructor(@InjectQueue(SWEEPS_QUEUE) private readonly queue: Queue, @Inject(REDIS) private readonly redis: Redis) {
    queue.on('error', () => undefined);
  }

  /** Upserting a schedule that stands is harmless, also from several workers at once (C071). */
  async ensure(): Promise<void> {
    const standing = await this.redis.zcard(this.queue.toKey('repeat'));
    if (standing >= Object.keys(SWEEPS).length) return;
    await Promise.all((Object.keys(SWEEPS) as Sweep[]).map((name) =>
      this.queue.upsertJobScheduler(name, { every: SWEEPS[name] }, { name, opts: { removeOnComplete: true, removeOnFail: true } })));
  }
}
