import { setTimeout as sleep } from 'node:timers/promises';
import { figure, startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../story/rig/patience';
import { enforcedUse, partsOf } from './rig/enforced-use';
import { limitFor } from './rig/limits';
import { MortalWorkers } from './rig/mortal-workers';
import { payerOn, PayingClients, type Payer } from './rig/paying-clients';
import { Repeats } from './rig/repeats';
import { startStack, type Process, type Stack } from './rig/stack';

const NODES = 4;
const KILLS = figure(50, 500);
const REDIS_LOSSES = figure(3, 20);
const POSTGRES_OUTAGES = figure(1, 3);
const POSTGRES_AWAY_MS = figure(8_000, 20_000);
const RIGHT_WITHIN_MS = 60_000;
/** A death takes the start of the next worker: about a second on a machine of its own, ten on one that is busy. */
const TEST_LIMIT_MS = figure(600_000, 7_200_000);

let redisServer: TestRedis;
let redis: Redis;
let stack: Stack;
let guards: Process[];
beforeAll(async () => {
  redisServer = await startRedis();
  redis = new Redis(redisServer.url, { maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  stack = await startStack(redisServer.url);
  guards = await Promise.all(Array.from({ length: NODES }, () => stack.startGuard()));
});
afterAll(async () => {
  redis?.disconnect();
  await stack?.stop();
  await redisServer?.stop();
});

/** Gone with all it held, and back, empty. */
async function loseRedis(): Promise<void> {
  await redisServer.kill();
  await sleep(500);
  await redisServer.restart({ empty: true });
}

/** First it hangs, as a frozen server does, then it refuses, as a stopped one. */
async function loseControlPlane(): Promise<void> {
  stack.postgres.set({ kind: 'hang' });
  await sleep(POSTGRES_AWAY_MS / 2);
  stack.postgres.set({ kind: 'reset' });
  await sleep(POSTGRES_AWAY_MS / 2);
  stack.postgres.set({ kind: 'none' });
}

/** Makes the rarer steps come to pass: a grant that ends soon, its publishing, and a counter that loses units. */
async function makeWork(payer: Payer, periodId: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 3_000).toISOString();
  await stack.control.try('POST', `/v1/tenants/${payer.slug}/top-ups`, { body: { meter: 'requests', units: 5, reason: 'for the proof', expiresAt } }).catch(() => undefined);
  const counters = await redis.keys(`qp:{${payer.slug}}:q:requests:${periodId}:*`).catch(() => []);
  for (const counter of counters) if (Number(await redis.get(counter).catch(() => 0)) > 200) await redis.decrby(counter, 50).catch(() => undefined);
}

describe('proof 9: nothing is lost and nothing counts twice', () => {
  it(`through ${KILLS} deaths of workers, ${REDIS_LOSSES} losses of Redis, outages of Postgres and repeats of everything`, async () => {
    const { control } = stack;
    const first = await stack.startWorker();
    const tier = await control.tier('metered', {
      limits: [limitFor('token-bucket', { limit: 100_000_000, windowMs: 60_000, burst: 10_000_000 })],
      quotas: [{ meter: 'requests', allowance: 1_000_000_000, overage: 'bill', alertAt: [50, 80, 100] }], degraded: 'bill',
    });
    const payers: Payer[] = [];
    while (payers.length < 3) payers.push(await payerOn(control, tier));
    const periodId = (await control.usageOf(payers[0]?.slug ?? ''))?.period.id ?? '';
    const clients = new PayingClients(payers, () => guards.map(({ url }) => url), { lanes: 8, pauseMs: 40 });
    await sleep(2_000);
    await first.script.end('SIGKILL');
    const workers = new MortalWorkers(stack, 2);
    const repeats = new Repeats(control, redis, redisServer.url);
    let isOver = false;
    const nuisance = (async () => {
      for (let turn = 0; !isOver; turn += 1) {
        await repeats.sayAgain();
        const payer = payers[turn % payers.length];
        if (payer) await makeWork(payer, periodId);
        await sleep(2_000);
      }
    })();
    let [losses, outages] = [0, 0];
    while (workers.total < KILLS || losses < REDIS_LOSSES || outages < POSTGRES_OUTAGES) {
      const share = workers.total / KILLS;
      if (losses < REDIS_LOSSES && share * (REDIS_LOSSES + 1) > losses + 1) {
        await loseRedis();
        losses += 1;
      }
      if (outages < POSTGRES_OUTAGES && share * (POSTGRES_OUTAGES + 1) > outages + 1) {
        await loseControlPlane();
        outages += 1;
      }
      await sleep(100);
    }
    isOver = true;
    await nuisance;
    await workers.end();
    await clients.end();
    await repeats.end();
    const endedAt = performance.now();
    await Promise.all([stack.startWorker(), stack.startWorker()]);
    console.info(`${workers.total} deaths: ${[...workers.deaths].map(([step, deaths]) => `${step} ${deaths}`).join(', ')}; ${losses} losses of Redis, ${outages} outages of Postgres, ${repeats.count} repeats`);
    for (const { slug } of payers) {
      const bill = clients.billOf(slug);
      expect([bill.unknown, bill.underWay]).toEqual([0, 0]);
      const seen = async (): Promise<{ ledger: number; enforced: number | undefined }> =>
        ({ ledger: Number((await control.usageOf(slug))?.used), enforced: await enforcedUse(redis, slug, periodId) });
      await until(`a right bill of ${slug}`, RIGHT_WITHIN_MS, async () => {
        const { ledger, enforced } = await seen();
        return ledger === bill.admitted && enforced === bill.admitted;
      }, 250).catch(() => undefined);
      console.info(`${slug}: ${bill.admitted} units answered as admitted, ${bill.refused} calls refused; ledger ${partsOf(await control.usageOf(slug))}; right after ${Math.round(performance.now() - endedAt)} ms`);
      expect(await seen()).toEqual({ ledger: bill.admitted, enforced: bill.admitted });
    }
    // Nothing comes later either, such as a stalled job's second run.
    await sleep(figure(3_000, 40_000));
    for (const { slug } of payers) expect(Number((await control.usageOf(slug))?.used)).toBe(clients.billOf(slug).admitted);
  }, TEST_LIMIT_MS);
});
