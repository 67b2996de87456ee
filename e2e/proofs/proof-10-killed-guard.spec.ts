import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../story/rig/patience';
import { enforcedUse, partsOf } from './rig/enforced-use';
import { limitFor } from './rig/limits';
import { payerOn, PayingClients, type PaidCall, type Payer } from './rig/paying-clients';
import { startStack, type Process, type Stack } from './rig/stack';

/** A node writes its journal once a second; a busy machine's timers come later. */
const JOURNAL_INTERVAL_MS = 1_000;
const LATE_BY_MS = 500;
const RECOVERED_WITHIN_MS = 60_000;

let redisServer: TestRedis;
let redis: Redis;
let stack: Stack;
let living: Process[];
let tier: string;
beforeAll(async () => {
  redisServer = await startRedis();
  redis = new Redis(redisServer.url);
  stack = await startStack(redisServer.url);
  await stack.startWorker();
  living = await Promise.all([stack.startGuard(), stack.startGuard()]);
  tier = await stack.control.tier('metered', {
    limits: [limitFor('token-bucket', { limit: 100_000_000, windowMs: 60_000, burst: 10_000_000 })],
    quotas: [{ meter: 'requests', allowance: 1_000_000_000, overage: 'bill', alertAt: [] }], degraded: 'bill',
  });
});
afterAll(async () => {
  redis?.disconnect();
  await stack?.stop();
  await redisServer?.stop();
});

const usedBy = async ({ slug }: Payer): Promise<number> => Number((await stack.control.usageOf(slug))?.used ?? 0);

interface Loss {
  readonly answered: number;
  readonly unknown: number;
  /** Units that the killed guard answered in its last journal interval. */
  readonly lastInterval: number;
}

/** Load on the guards until one of them is killed in the middle of it. */
async function loadUntilKilled(payer: Payer, victim: Process, loadMs: number): Promise<Loss> {
  const heard: (PaidCall & { readonly atMs: number })[] = [];
  const urls = [victim, ...living].map(({ url }) => url);
  const clients = new PayingClients([payer], () => urls, { lanes: 9, pauseMs: 10, heard: (call) => heard.push({ ...call, atMs: performance.now() }) });
  await until('an answer of the guard that is to die', 30_000, () => heard.some(({ url }) => url === victim.url), 5);
  await sleep(loadMs);
  const killedAt = performance.now();
  await victim.script.end('SIGKILL');
  await clients.end();
  const bill = clients.billOf(payer.slug);
  const last = heard.filter(({ url, atMs, answer }) => url === victim.url && answer.status === 200 && atMs > killedAt - JOURNAL_INTERVAL_MS - LATE_BY_MS);
  return { answered: bill.admitted, unknown: bill.unknown, lastInterval: last.reduce((sum, { units }) => sum + units, 0) };
}

/** The bill is too low by no more than the last interval at first, and right when the counters have been looked through. */
async function expectRecovered(name: string, payer: Payer, { answered, unknown, lastInterval }: Loss): Promise<void> {
  const killedAt = performance.now();
  // The living have journaled and the worker has folded, yet the dead is not missed for 10 s.
  await sleep(4_000);
  const before = await usedBy(payer);
  const isRight = (used: number): boolean => used >= answered && used <= answered + unknown;
  const recovered = await until(`the recovery of what ${name} knew`, RECOVERED_WITHIN_MS, async () => {
    const used = await usedBy(payer);
    return isRight(used) && used;
  }, 200).catch(() => undefined);
  const tookMs = Math.round(performance.now() - killedAt);
  const item = await stack.control.usageOf(payer.slug);
  console.info(`${name}: ${answered} units answered, ${unknown} unknown; ledger before recovery ${before} (${answered - before} missing, ${lastInterval} in the last interval), ` +
    `then ${item?.used ?? ''} after ${tookMs} ms (${partsOf(item)})`);
  expect(answered - before).toBeLessThanOrEqual(lastInterval);
  expect(recovered).toBeDefined();
  // It stays there, and what is enforced is the same.
  await sleep(7_000);
  const used = await usedBy(payer);
  expect(isRight(used)).toBe(true);
  expect(await enforcedUse(redis, payer.slug, item?.period.id ?? '')).toBe(used);
}

describe('proof 10: a guard is killed under load', () => {
  it('and the ledger lacks its last journal interval at most, and has all of it when the counters were looked through', async () => {
    const payer = await payerOn(stack.control, tier);
    await expectRecovered('a guard of some seconds', payer, await loadUntilKilled(payer, await stack.startGuard(), 5_000));
  });

  it('in its very first second, before it has journaled anything', async () => {
    const payer = await payerOn(stack.control, tier);
    await expectRecovered('a guard of less than a second', payer, await loadUntilKilled(payer, await stack.startGuard(), 300));
  });
});
