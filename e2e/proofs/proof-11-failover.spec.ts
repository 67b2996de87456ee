import { setTimeout as sleep } from 'node:timers/promises';
import { FaultProxy, figure, startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { degradedAnswers } from '../story/rig/degraded-totals';
import { call } from '../story/rig/http-call';
import { limitOf } from '../story/rig/limit-fields';
import { until } from '../story/rig/patience';
import { enforcedUse, partsOf } from './rig/enforced-use';
import { limitFor } from './rig/limits';
import { payerOn, PayingClients, type PaidCall, type Payer } from './rig/paying-clients';
import { startStack, type Process, type Stack } from './rig/stack';
import { SwitchProxy } from './rig/switch-proxy';

const ROUNDS = figure(3, 50);
/** How far the replica is behind when the primary dies, ms. */
const BEHIND_MS = 700;
const LOST_SECOND_MS = 1_000;
const REBUILT_WITHIN_MS = 60_000;
const LIMIT = 10_000_000;
const LIMIT_NAME = 'fixed-window';

/** A Redis that may be the primary, reached by its replica through a proxy that can hold the stream back. */
interface Server {
  readonly redis: TestRedis;
  readonly admin: Redis;
  readonly stream: FaultProxy;
}

let primary: Server;
let replica: Server;
let road: SwitchProxy;
let roadClient: Redis;
let stack: Stack;
let guards: Process[];

async function startServer(): Promise<Server> {
  const redis = await startRedis({ config: ['repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'] });
  const admin = new Redis(redis.url);
  admin.on('error', () => undefined);
  return { redis, admin, stream: await FaultProxy.start(redis.url) };
}
async function stopServer({ redis, admin, stream }: Server): Promise<void> {
  admin.disconnect();
  await stream.stop();
  await redis.stop();
}
async function follow(follower: Server, leader: Server): Promise<void> {
  await follower.admin.replicaof('127.0.0.1', leader.stream.port);
  await until('a replica in step', 30_000, async () => (await follower.admin.info('replication')).includes('master_link_status:up'), 50);
}

beforeAll(async () => {
  [primary, replica] = await Promise.all([startServer(), startServer()]);
  await follow(replica, primary);
  road = await SwitchProxy.start(primary.redis.port);
  roadClient = new Redis(road.url, { maxRetriesPerRequest: 1 });
  roadClient.on('error', () => undefined);
  stack = await startStack(road.url);
  await stack.startWorker();
  guards = await Promise.all([stack.startGuard(), stack.startGuard()]);
});
afterAll(async () => {
  roadClient?.disconnect();
  await stack?.stop();
  await road?.stop();
  for (const server of [primary, replica]) if (server) await stopServer(server);
});

/** The primary dies with its last writes, the replica takes its place, and a new replica follows it. @returns when the stream was cut and when the road led on */
async function failOver(): Promise<{ cutAt: number; switchedAt: number }> {
  const cutAt = performance.now();
  // Bytes of this time are lost for good: the replica never sees them.
  primary.stream.set({ kind: 'hang' });
  await sleep(BEHIND_MS);
  await primary.redis.kill();
  await replica.admin.replicaof('NO', 'ONE');
  road.pointAt(replica.redis.port);
  const switchedAt = performance.now();
  const dead = primary;
  primary = replica;
  replica = await startServer();
  await Promise.all([stopServer(dead), follow(replica, primary)]);
  return { cutAt, switchedAt };
}

/** How much of the limit the store has counted. */
async function countedBy(payer: Payer): Promise<number> {
  const url = guards[0]?.url ?? '';
  return until('a decision by the store', 20_000, async () => {
    const answer = await call(`${url}/bulk`, { method: 'POST', key: payer.key, body: { items: [] } });
    return degradedAnswers([answer]).length === 0 && answer.status === 200 && LIMIT - limitOf(answer, LIMIT_NAME).remaining;
  }, 20);
}

describe('proof 11: the store fails over and its last writes are lost (P09)', () => {
  it(`loses a second of a limit's counts at most, and no unit of a bill: ${ROUNDS} rounds`, async () => {
    const { control } = stack;
    const tier = await control.tier('metered', {
      limits: [limitFor('fixed-window', { limit: LIMIT, windowMs: 86_400_000 })],
      quotas: [{ meter: 'requests', allowance: 1_000_000_000, overage: 'bill', alertAt: [] }], degraded: 'bill',
    });
    const payer = await payerOn(control, tier);
    const periodId = (await control.usageOf(payer.slug))?.period.id ?? '';
    const heard: (PaidCall & { readonly atMs: number })[] = [];
    const clients = new PayingClients([payer], () => guards.map(({ url }) => url), { lanes: 8, pauseMs: 20, heard: (one) => heard.push({ ...one, atMs: performance.now() }) });
    const storeUnits = (fromMs: number, untilMs: number): number => heard.filter(({ atMs, answer }) => answer.status === 200 && degradedAnswers([answer]).length === 0 && atMs >= fromMs && atMs < untilMs)
      .reduce((sum, { units }) => sum + units, 0);
    let lostBefore = 0;
    let worst = { lost: 0, rebuiltMs: 0, above: 0 };
    for (let round = 1; round <= ROUNDS; round += 1) {
      await sleep(2_500);
      const { cutAt, switchedAt } = await failOver();
      let above = 0;
      const rebuiltMs = await until(`a rebuilt quota, round ${round}`, REBUILT_WITHIN_MS, async () => {
        const least = clients.billOf(payer.slug).admitted;
        const enforced = await enforcedUse(roadClient, payer.slug, periodId).catch(() => undefined);
        const { admitted, underWay } = clients.billOf(payer.slug);
        if (enforced !== undefined) above = Math.max(above, enforced - admitted - underWay);
        return enforced !== undefined && enforced >= least && performance.now() - switchedAt;
      }, 50).catch(() => undefined);
      await clients.pause();
      const inWindow = storeUnits(cutAt - (LOST_SECOND_MS - BEHIND_MS), switchedAt);
      const total = storeUnits(0, Number.POSITIVE_INFINITY);
      const counted = await countedBy(payer);
      const lost = total - counted - lostBefore;
      lostBefore += lost;
      clients.resume();
      console.info(`round ${round}: ${lost} units of the limit lost, of ${inWindow} that the store admitted in the ${Math.round(switchedAt - cutAt + LOST_SECOND_MS - BEHIND_MS)} ms before the switch; quota rebuilt ${rebuiltMs === undefined ? 'never' : `${Math.round(rebuiltMs)} ms`} after the switch, at most ${above} above the truth`);
      worst = { lost: Math.max(worst.lost, lost), rebuiltMs: Math.max(worst.rebuiltMs, rebuiltMs ?? Number.POSITIVE_INFINITY), above: Math.max(worst.above, above) };
      expect(lost).toBeLessThanOrEqual(inWindow);
      expect(rebuiltMs).toBeDefined();
      expect(above).toBeLessThanOrEqual(inWindow);
    }
    await clients.end();
    const { admitted, unknown, refused } = clients.billOf(payer.slug);
    const isRight = async (): Promise<boolean> => Number((await control.usageOf(payer.slug))?.used) === admitted && (await enforcedUse(roadClient, payer.slug, periodId)) === admitted;
    await until('the right bill', REBUILT_WITHIN_MS, isRight, 200).catch(() => undefined);
    console.info(`${ROUNDS} failovers: ${admitted} units answered as admitted, ${refused} calls refused; ledger ${partsOf(await control.usageOf(payer.slug))}; worst ${JSON.stringify(worst)}`);
    expect(unknown).toBe(0);
    expect([Number((await control.usageOf(payer.slug))?.used), await enforcedUse(roadClient, payer.slug, periodId)]).toEqual([admitted, admitted]);
  });
});
