import { BullModule, Processor, WorkerHost } from '@nestjs/bullmq';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { Queue, QueueEvents, Worker, type Job } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter, Limiter, QuotaGuard, QuotaplaneModule } from '../index';
import { limitOf } from './policies';
import { quietLogger, startPlatform, type SpecPlatform } from './spec-platform';

interface MailJob {
  readonly tenant: string;
  readonly recipients?: number;
}

describe('a BullMQ job', () => {
  let platform: SpecPlatform;
  let limiter: Limiter;
  let connection: { url: string };
  const closing: { close(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    platform = await startPlatform();
    connection = { url: platform.redisUrl };
    limiter = await createLimiter({ ...platform.options, service: 'mailer', logger: quietLogger() });
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });
  afterAll(async () => {
    await limiter.close();
    await platform.stop();
  });

  const kept = <T extends { close(): Promise<unknown> }>(one: T): T => {
    closing.push(one);
    return one;
  };

  // Fails when a denial is thrown as the job's own failure, or the wait is not kept.
  it('is delayed by the wait of its denial and uses no attempt', async () => {
    await platform.tenantWith('mails', { limits: [limitOf({ limit: 1, windowMs: 500, burst: 1 })] });
    const startedAtMs: number[] = [];
    const events = kept(new QueueEvents('mails', { connection }));
    const queue = kept(new Queue<MailJob>('mails', { connection }));
    await events.waitUntilReady();
    const processor = limiter.job<Job<MailJob, string>, string>(({ data }) => ({ tenant: data.tenant }), (job) => {
      startedAtMs.push(Date.now());
      return Promise.resolve(`sent ${job.id}`);
    });
    kept(new Worker<MailJob, string>('mails', processor, { connection, concurrency: 3 }));
    const jobs = await queue.addBulk([1, 2, 3].map((index) => ({ name: `mail-${index}`, data: { tenant: 'mails' }, opts: { attempts: 1 } })));
    const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 10_000)));
    expect(results.map(String).sort()).toEqual(['sent 1', 'sent 2', 'sent 3']);
    expect(startedAtMs).toHaveLength(3);
    expect((startedAtMs[2] ?? 0) - (startedAtMs[0] ?? 0)).toBeGreaterThanOrEqual(990);
    for (const job of jobs) expect((await queue.getJob(job.id ?? ''))?.attemptsMade).toBe(1);
  });

  it('fails for good where waiting cannot help', async () => {
    await platform.tenantWith('bulk-mails', { limits: [limitOf({ limit: 5, burst: 5 })] });
    const events = kept(new QueueEvents('bulk-mails', { connection }));
    const queue = kept(new Queue<MailJob>('bulk-mails', { connection }));
    await events.waitUntilReady();
    const processor = limiter.job<Job<MailJob, string>, string>(({ data }) => ({ tenant: data.tenant, cost: data.recipients ?? 1 }), () => Promise.resolve('sent'));
    kept(new Worker<MailJob, string>('bulk-mails', processor, { connection }));
    const job = await queue.add('mail', { tenant: 'bulk-mails', recipients: 6 }, { attempts: 5 });
    await expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow('the limit holds 5 at most');
    expect((await queue.getJob(job.id ?? ''))?.attemptsMade).toBe(1);
  });

  // Mutation: the global guard is asked about a processor: guards do not run there, and must not be in the way either.
  it('C065 is admitted in a Nest processor beside a global guard, on the module’s own node', async () => {
    await platform.tenantWith('nest-mails', { limits: [limitOf({ limit: 1, windowMs: 300, burst: 1 })] });

    @Processor('nest-mails')
    class MailProcessor extends WorkerHost {
      constructor(private readonly ownLimiter: Limiter) {
        super();
      }

      async process(job: Job<MailJob>, token?: string): Promise<string> {
        await this.ownLimiter.admitJob(job, token, { tenant: job.data.tenant });
        return 'sent';
      }
    }

    @Module({
      imports: [QuotaplaneModule.forRoot(platform.options), BullModule.forRoot({ connection }), BullModule.registerQueue({ name: 'nest-mails' })],
      providers: [MailProcessor, { provide: APP_GUARD, useExisting: QuotaGuard }],
    })
    class MailModule {}

    const app: INestApplicationContext = await NestFactory.createApplicationContext(MailModule, { logger: false });
    kept(app);
    const events = kept(new QueueEvents('nest-mails', { connection }));
    const queue = kept(new Queue<MailJob>('nest-mails', { connection }));
    await events.waitUntilReady();
    const jobs = await queue.addBulk([1, 2].map((index) => ({ name: `mail-${index}`, data: { tenant: 'nest-mails' }, opts: { attempts: 1 } })));
    expect(await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 10_000)))).toEqual(['sent', 'sent']);
  });
});
