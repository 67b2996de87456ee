import { startRedis, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLimiter, GateFullError, type ConcurrencyGate, type Limiter } from '../limiter.entry';

const OPTIONS = { tenant: 'acme', name: 'in-flight', limit: 3, maxQueue: 4, maxWaitMs: 10_000 };
const silent = { warn: () => undefined, error: () => undefined };

let redis: TestRedis;
let limiters: Limiter[];
let gates: ConcurrencyGate[];
beforeAll(async () => {
  redis = await startRedis();
  limiters = await Promise.all([1, 2].map(() => createLimiter({ redisUrl: redis.url, service: 'reports', storeBudgetMs: 1000, logger: silent })));
  gates = limiters.map((limiter) => limiter.gate(OPTIONS));
});
afterAll(async () => {
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await redis.stop();
});

// Mutation: give each gate a name of its own, or that of the platform's own count.
it('caps tasks over all processes that name the same gate, and refuses those that find no place to wait', async () => {
  let [running, most] = [0, 0];
  const ends: (() => void)[] = [];
  const task = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
  };
  const runs = gates.flatMap((gate) => Array.from({ length: 5 }, () => gate.run(task)));
  const settled = Promise.allSettled(runs);
  // Each task ends a moment after it began, so that three always run while others wait.
  const timer = setInterval(() => ends.shift()?.(), 20);
  const results = await settled;
  clearInterval(timer);
  expect(most).toBe(3);
  const refused = results.filter((result): result is PromiseRejectedResult => result.status === 'rejected');
  expect(refused.every(({ reason }) => reason instanceof GateFullError)).toBe(true);
  expect(results.length - refused.length).toBeGreaterThanOrEqual(8);
});
