import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { figure, startRedis, type TestRedis } from '@quotaplane/testing';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../index';
import { limitOf, policyOf } from './policies';

const SUBJECTS = figure(60_000, 1_000_000);
const SOAK_MS = figure(0, 20 * 60_000);
const AT_ONCE = 128;
const GROWTH_MAX = 1.05;
/** A heap is never the same to the byte: pages of it are given out in this size. */
const SLACK_BYTES = 1_500_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let redis: TestRedis;
let limiter: Limiter;

beforeAll(async () => {
  redis = await startRedis();
  const client = connectLimitRedis(redis.url);
  await new Promise((resolve) => client.once('ready', resolve));
  const publisher = new PolicyPublisher({ redis: client });
  const perAddress = limitOf({ name: 'per-address', scope: 'ip', limit: 1, burst: 1, windowMs: 1000 });
  const perUser = limitOf({ name: 'per-user', scope: 'user', algorithm: 'fixed-window', limit: 100, burst: null, windowMs: 1000 });
  await publisher.publishTenant({ policy: policyOf({ tenant: 'soak', limits: [perAddress, perUser] }), generation: 1, changeId: '' });
  client.disconnect();
  limiter = await createLimiter({ redisUrl: redis.url, service: 'soak', storeBudgetMs: 1000, logger: { warn: () => undefined, error: () => undefined } });
});
afterAll(async () => {
  await limiter?.close();
  await redis?.stop();
});

const addressOf = (subject: number): string => `10.${(subject >> 16) & 255}.${(subject >> 8) & 255}.${subject & 255}`;

async function decideAll(from: number, to: number): Promise<number> {
  let next = from;
  let denied = 0;
  const lane = async (): Promise<void> => {
    while (next < to) {
      const subject = next++;
      const call = { tenant: 'soak', userId: `user-${subject}`, address: addressOf(subject) };
      const first = await limiter.decide(call);
      // Every fifth calls again at once and is denied: offenders and their retries are remembered somewhere, too.
      const second = subject % 5 === 0 ? await limiter.decide(call) : undefined;
      denied += [first, second].filter((decision) => decision?.outcome === 'denied').length;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return denied;
}

/** After two seconds, in which every flush runs twice, and a collection. */
async function settled(): Promise<{ heap: number; resources: Record<string, number> }> {
  await sleep(2500);
  collect();
  collect();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  return { heap: process.memoryUsage().heapUsed, resources };
}

describe('P27: nothing leaks', () => {
  it('however many subjects come by: the heap and the handles stay', async () => {
    // Bounded memories are full after a part of them.
    const warm = Math.floor(SUBJECTS / 3);
    await decideAll(0, warm);
    const before = await settled();
    const startedAt = performance.now();
    let last = warm;
    let denied = 0;
    do {
      denied += await decideAll(last, last + SUBJECTS - warm);
      last += SUBJECTS - warm;
    } while (performance.now() - startedAt < SOAK_MS);
    const after = await settled();
    const growth = after.heap / before.heap;
    console.log(`${last} subjects, ${denied} denials: heap ${(before.heap / 1e6).toFixed(1)} -> ${(after.heap / 1e6).toFixed(1)} MB (x ${growth.toFixed(3)}), handles ${JSON.stringify(after.resources)}`);
    expect(denied).toBeGreaterThan((SUBJECTS - warm) / 10);
    expect(after.heap).toBeLessThanOrEqual(before.heap * GROWTH_MAX + SLACK_BYTES);
    for (const kind of ['TCPSocketWrap', 'TCPServerWrap', 'Timeout', 'Immediate']) {
      expect([kind, (after.resources[kind] ?? 0) <= (before.resources[kind] ?? 0) + 1]).toEqual([kind, true]);
    }
  }, figure(180_000, 7_200_000));
});
