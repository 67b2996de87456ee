import { figure, SEED, startRedis, type TestRedis } from '@quotaplane/testing';
import { redisKeys } from '@quotaplane/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { createLimitStore } from '../redis/create-limit-store';
import { checkOf, connected, inGoodTime } from '../rig/connected';
import { KINDS, namedRateOf } from '../rig/rates';
import { hammerFleet, type HammerFleet, type HammerNode } from './hammer-nodes';

const NODES = 4;
const CALLS = 50;
const ROUNDS = figure(200, 5000);
const DAY_MS = 86_400_000;

describe('P01 four processes, 200 calls in parallel', () => {
  let server: TestRedis;
  let redis: LimitRedis;
  let fleet: HammerFleet;
  let nodes: HammerNode[];
  beforeAll(async () => {
    server = await startRedis();
    redis = await connected(connectLimitRedis(server.url));
    await redis.set(redisKeys.head('t'), '7.1');
    fleet = await hammerFleet(server.url);
    nodes = await Promise.all(Array.from({ length: NODES }, () => fleet.node()));
  });
  afterAll(async () => {
    await fleet?.close();
    redis?.disconnect();
    await server?.stop();
  });

  const round = fc.array(fc.record({ kind: fc.constantFrom(...KINDS), limit: fc.integer({ min: 1, max: 260 }) }), { minLength: 1, maxLength: 3 });

  // Mutation: read a counter once for the batch but judge each of its checks by that (drop slot_amount's update on spending).
  it(`admits exactly what all limits of a call have room for, ${ROUNDS} rounds (seed ${SEED})`, async () => {
    const store = createLimitStore(redis);
    let turn = 0;
    for (const limits of fc.sample(round, { numRuns: ROUNDS, seed: SEED })) {
      turn += 1;
      const cost = 1 + (turn % 3);
      const charges = limits.map(({ kind, limit }, at) => namedRateOf(kind, `${turn}:${at}`, limit, DAY_MS, cost));
      const counts = await Promise.all(nodes.map((node) => node.order({ kind: 'once', calls: CALLS, charges })));
      const sum = (of: 'allowed' | 'denied' | 'others'): number => counts.reduce((all, count) => all + count[of], 0);
      const wanted = Math.min(NODES * CALLS, ...limits.map(({ limit }) => Math.floor(limit / cost)));
      expect({ limits, cost, allowed: sum('allowed'), others: sum('others') }).toEqual({ limits, cost, allowed: wanted, others: 0 });
      // P02: what the counters hold is what was admitted; the denials left no trace.
      const left = await store.peek(checkOf(charges), inGoodTime());
      expect('states' in left && left.states.map(({ remaining }) => remaining)).toEqual(limits.map(({ limit }) => limit - wanted * cost));
    }
  }, figure(120_000, 3_600_000));
});
