import { randomUUID } from 'node:crypto';
import { redisKeys, type UsageItem } from '@quotaplane/contracts';
import type { QuotaName } from '@quotaplane/rate-limit';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { periodAt } from '@quotaplane/usage';
import { Queue, Worker, type Job } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { enforcedUse, SpecNode } from '../ledger/spec-node';
import { OutboxRig } from './outbox-rig';
import { CHANGES_QUEUE, SWEEPS, SWEEPS_QUEUE } from './queue-names';
import { StoreWatch } from './store-watch';
import { SweepsProcessor } from './sweeps.processor';
import { contention, eventually, SpecWorker } from './worker-rig';

const PREFIX = '{qp-jobs}';
/** The product's lock is 30 s. */
const LOCK_MS = 300;
const AWAY_MS = 10_000;
const RESUMES_WITHIN_MS = 5_000;
const CHILDREN = 100;

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let tier: string;
const workers = new Set<SpecWorker>();
const startWorker = async (): Promise<SpecWorker> => {
  const worker = await SpecWorker.start({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  workers.add(worker);
  return worker;
};
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis({ config: ['appendonly yes', 'appendfsync always'] })]);
  rig = await OutboxRig.over({ postgres, redisServer });
  tier = await rig.tier('metered', { quotas: [{ meter: 'requests', allowance: 100, overage: 'bill', alertAt: [10, 50] }], degraded: 'bill' });
});
afterAll(async () => {
  await Promise.all([...workers].map((worker) => worker.stop()));
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

function queue(name: string): Queue {
  const opened = new Queue(name, { prefix: PREFIX, connection: { url: redisServer.url, maxRetriesPerRequest: null }, skipVersionCheck: true });
  opened.on('error', () => undefined);
  return opened;
}
const once = { removeOnComplete: true, removeOnFail: true };

// Mutations: add what a journal says to what the ledger has; record a threshold each time it is seen.
it('C069 has one effect of a job that lost its lock and ran twice', async () => {
  const worker = await startWorker();
  const slug = 'lock-lost';
  await rig.tenant(slug, tier);
  await rig.tenants.publish([slug]);
  const { id: periodId } = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() });
  const name: QuotaName = { tenant: slug, meter: 'requests', periodId, part: 1, generation: 1 };
  const node = new SpecNode(rig.redis);
  await node.admit(name, 60);
  const held = queue(`held-${randomUUID()}`);
  const starts: string[] = [];
  let ends = 0;
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const processor = worker.app.get(SweepsProcessor);
  const run = async (job: Job): Promise<void> => {
    starts.push(job.id ?? '');
    // Its lock ends unrenewed, as behind a loop that is held, while others look for stalled jobs.
    if (starts.length === 1) await isReleased;
    await processor.process(job);
    ends += 1;
  };
  const options = { prefix: PREFIX, connection: { url: redisServer.url, maxRetriesPerRequest: null }, lockDuration: LOCK_MS, stalledInterval: LOCK_MS / 2, skipLockRenewal: true, skipVersionCheck: true, drainDelay: 1 };
  const lanes = [new Worker(held.name, run, options), new Worker(held.name, run, options)];
  for (const lane of lanes) lane.on('error', () => undefined);
  try {
    await held.add('usage', {}, once);
    await eventually(() => Promise.resolve(starts.length >= 2), 30_000);
    await node.journal.flush();
    const item = async (): Promise<UsageItem | undefined> => (await rig.ledger.itemsOf([slug], 'current', await rig.ledger.asOf()))[0];
    await eventually(async () => (await item())?.used === '60', 30_000);
    // As if it had read the journals before the other run acknowledged them.
    await eventually(async () => (await rig.redis.del(redisKeys.journalAcks)) === 1, 30_000);
    release();
    await eventually(() => Promise.resolve(ends >= 2), 30_000);
    await eventually(async () => (await held.getJobCounts('active', 'waiting')).active === 0, 30_000);
    expect(new Set(starts).size).toBe(1);
    await eventually(async () => (await rig.prisma.event.count({ where: { tenant: slug } })) >= 2, 30_000);
    await worker.app.get(SweepsProcessor).process({ name: 'usage' } as Job);
    expect(await item()).toMatchObject({ used: '60', thresholds: [{ percent: 10 }, { percent: 50 }] });
    expect(await rig.prisma.event.count({ where: { tenant: slug } })).toBe(2);
    expect(await enforcedUse(rig.redis, name)).toBe(60);
  } finally {
    release();
    await Promise.all(lanes.map((lane) => lane.close(true)));
    await held.disconnect();
  }
}, 120_000);

// Mutation: let the worker give up a connection that was away, or let its blocking read wait on the old one.
it('C070 works on within 5 s of a store that was away for 10 s, with jobs waiting', async () => {
  if (workers.size === 0) await startWorker();
  const id = await rig.tenant('waiting', tier);
  const waiting = queue(SWEEPS_QUEUE);
  await waiting.addBulk(Array.from({ length: 20 }, () => ({ name: 'usage', data: {}, opts: { ...once, delay: AWAY_MS / 2 } })));
  await redisServer.kill();
  const changeId = await rig.override(id, 'waiting', 77);
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  await redisServer.restart();
  const backAt = performance.now();
  await eventually(async () => (await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })).publishedAt, 60_000);
  const publishedMs = performance.now() - backAt;
  const factor = contention();
  // The schedules' own next jobs are delayed ones; these twenty are the others.
  await eventually(async () => (await waiting.getJobs(['waiting', 'delayed', 'prioritized'])).every((job) => job?.repeatJobKey !== undefined), 60_000);
  const tookMs = performance.now() - backAt;
  console.info(`published ${Math.round(publishedMs)} ms after the store was back, all jobs that waited done after ${Math.round(tookMs)} ms, machine ${factor.toFixed(1)} times slower than alone`);
  expect(tookMs).toBeLessThan(RESUMES_WITHIN_MS * factor);
  await waiting.disconnect();
}, 120_000);

// Mutation: believe a schedule because its name stands.
it('C070 goes on with a sweep whose next slot nobody named, as where a worker died in between', async () => {
  await Promise.all([...workers].map((worker) => worker.stop()));
  workers.clear();
  const sweeps = queue(SWEEPS_QUEUE);
  // What a death leaves: the schedule stands, its slot is past, and no job waits for it.
  for (const key of await rig.redis.keys(`${PREFIX}:${SWEEPS_QUEUE}:repeat:*`)) if (/:\d+$/.test(key)) await rig.redis.del(key);
  await rig.redis.del(...['delayed', 'wait', 'prioritized'].map((state) => sweeps.toKey(state)));
  await rig.redis.zadd(sweeps.toKey('repeat'), ...(Object.keys(SWEEPS).flatMap((name) => [Date.now() - 60_000, name])));
  const worker = await startWorker();
  const ran = new Set<string>();
  worker.app.get(SweepsProcessor).worker.on('completed', (job: Job) => ran.add(job.name));
  await eventually(() => Promise.resolve(['usage', 'changes', 'quotas'].every((name) => ran.has(name))), 4 * RESUMES_WITHIN_MS);
  await sweeps.disconnect();
}, 90_000);

// Mutation: name each schedule anew when it is upserted.
it('C071 makes one schedule of 20 upserts in a second, and one run of each slot', async () => {
  const worker = [...workers][0] ?? (await startWorker());
  const slots: string[] = [];
  const processor = worker.app.get(SweepsProcessor).worker;
  const note = (job: Job): void => {
    if (job.name === 'usage' && job.repeatJobKey) slots.push(job.id ?? '');
  };
  processor.on('completed', note);
  const watch = worker.app.get(StoreWatch);
  // One that has just started, or whose store has just come back, may have no connection yet.
  await eventually(() => watch.check().then(() => true, () => false));
  await rig.redis.del(`${PREFIX}:${SWEEPS_QUEUE}:repeat`);
  await Promise.all(Array.from({ length: 20 }, () => watch.check()));
  expect(await rig.redis.zcard(`${PREFIX}:${SWEEPS_QUEUE}:repeat`)).toBe(Object.keys(SWEEPS).length);
  await eventually(() => Promise.resolve(slots.length >= 5), 60_000);
  processor.off('completed', note);
  // A slot is in its job's id: repeat:usage:<ms>.
  expect(new Set(slots).size).toBe(slots.length);
}, 90_000);

// Mutation: mark a change before it is published, or keep it in the job alone.
it('C072 loses and doubles none of 100 pieces of work when it is told to end midway', async () => {
  const slugs = Array.from({ length: 10 }, (_, index) => `child-${index}`);
  const ids = await Promise.all(slugs.map((slug) => rig.tenant(slug, tier)));
  await rig.tenants.publish(slugs);
  const worker = [...workers][0] ?? (await startWorker());
  const pokes = queue(CHANGES_QUEUE);
  const changes: string[] = [];
  const adding = Promise.all(slugs.map(async (slug, lane) => {
    for (let turn = 0; turn < CHILDREN / slugs.length; turn += 1) {
      const changeId = await rig.override(ids[lane] ?? '', slug, 1000 + turn);
      await pokes.add('relay', {}, { ...once, jobId: changeId });
      changes.push(changeId);
    }
  }));
  await eventually(() => Promise.resolve(changes.length >= CHILDREN / 3), 60_000);
  workers.delete(worker);
  await worker.stop();
  await adding;
  await startWorker();
  await eventually(async () => (await rig.prisma.change.count({ where: { id: { in: changes }, publishedAt: null } })) === 0, 60_000);
  const revisions = await rig.prisma.changeRevision.findMany({ where: { changeId: { in: changes } } });
  expect(revisions).toHaveLength(CHILDREN);
  expect(new Set(revisions.map(({ changeId }) => changeId)).size).toBe(CHILDREN);
  await pokes.disconnect();
}, 120_000);
