import { setTimeout as sleep } from 'node:timers/promises';
import { figure, startRedis, type TestRedis } from '@quotaplane/testing';
import { redisKeys } from '@quotaplane/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { connected } from '../rig/connected';
import { KINDS, namedRateOf } from '../rig/rates';
import type { Charge } from '../store';
import { hammerFleet, type HammerFleet } from './hammer-nodes';

const KILLS = figure(12, 500);
const SUBJECTS = 40;
const WINDOW_MS = 5000;
const GRACE_MS = 60_000;

let server: TestRedis;
let redis: LimitRedis;
let fleet: HammerFleet;
beforeAll(async () => {
  server = await startRedis();
  redis = await connected(connectLimitRedis(server.url));
  await redis.set(redisKeys.head('t'), '7.1');
  fleet = await hammerFleet(server.url);
});
afterAll(async () => {
  await fleet?.close();
  redis?.disconnect();
  await server?.stop();
});

// Mutation: set a counter's life in a second command after its value.
it(`P06 a node killed in the middle of anything leaves no counter without a life, ${KILLS} kills`, async () => {
  const penalty = (counter: string) => ({ counter, strikes: 3, withinMs: 1000, banMs: 1000, factor: 2, maxBanMs: 4000, forgiveAfterMs: 5000 });
  const lists = Array.from({ length: SUBJECTS }, (_, at): Charge[] => [
    ...KINDS.map((kind) => ({ ...namedRateOf(kind, `${kind}:${at}`, 5, WINDOW_MS), penalty: penalty(`qp:{t}:p:${kind}:${at}`) })),
    { kind: 'retry', counter: `qp:{t}:i:${at}`, windowMs: WINDOW_MS, max: 3, repeatCost: 0, cost: 0 },
  ]).map((charges) => [...charges].reverse());
  for (let kill = 0; kill < KILLS; kill += 1) {
    const node = await fleet.node();
    node.start({ kind: 'for-ever', lists });
    await sleep(20 + Math.random() * 150);
    await node.kill();
    const keys = (await Promise.all(['c', 'p', 'i'].map((letter) => redis.keys(`qp:{t}:${letter}:*`)))).flat();
    const lives = await Promise.all(keys.map(async (key) => ({ key, pttl: await redis.pttl(key) })));
    expect(lives.filter(({ pttl }) => pttl <= 0 && pttl !== -2)).toEqual([]);
    // A sliding counter is untouched after two windows; nothing here lives longer.
    expect(lives.filter(({ pttl }) => pttl > 2 * WINDOW_MS + WINDOW_MS + GRACE_MS)).toEqual([]);
    expect(keys.filter((key) => Buffer.byteLength(key) > 200)).toEqual([]);
    if (kill > 2) expect(keys.length).toBeGreaterThan(SUBJECTS * KINDS.length - 1);
  }
}, figure(120_000, 3_600_000));
