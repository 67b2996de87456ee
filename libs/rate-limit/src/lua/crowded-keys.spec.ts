import { startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { decodeBatch } from '../redis/decoded-batch';
import { encodeBatch } from '../redis/encoded-batch';
import { callScript } from '../redis/script-call';
import { connected } from '../rig/connected';
import { ANY_HEAD, type Charge, type Check, type Verdict } from '../store';

const START_MS = 1_764_500_000_123;
const HOUR_MS = 3_600_000;

let server: TestRedis;
let redis: LimitRedis;
let admin: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = await connected(connectLimitRedis(server.url));
  admin = new Redis(server.url);
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  redis.disconnect();
  await server.stop();
});

const checkOf = (...charges: Charge[]): Check => ({ tenant: 't', knownHead: ANY_HEAD, fromMs: 0, untilMs: START_MS + 1000 * HOUR_MS, subjectFields: [], charges });
const judge = async (checks: readonly Check[]): Promise<Verdict[]> => {
  const batch = encodeBatch(checks, START_MS);
  return decodeBatch(checks, batch.entries, await callScript(redis, 'judge-and-spend', batch));
};

/** µs that Redis itself spent on the script since the counts were reset. */
const scriptMicros = async (): Promise<number> => Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await admin.info('commandstats'))?.[1]);

// Mutation: remove the ended fields in one HDEL. Lua refuses that many arguments after the first write: every call of the tenant fails, and its neighbours with it.
it('gives slots beside nine thousand fields of nobody, and removes them', async () => {
  const slots = 'qp:{t}:n:in-flight:1';
  await admin.hset(slots, Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`field-${at}`, 'x'])));
  const slot: Charge = { kind: 'slot', counter: slots, limit: 5, isRegenerated: false, cost: 1 };
  const neighbour: Charge = { kind: 'window', counter: 'qp:{t}:c:w', limit: 5, windowMs: HOUR_MS, alignment: 'epoch', cost: 1 };
  const verdicts = await judge([checkOf(slot), checkOf(neighbour)]);
  expect(verdicts.map(({ status }) => status)).toEqual(['allowed', 'allowed']);
  expect(await admin.hlen(slots)).toBe(1);
});

const log = 'qp:{t}:c:log';
const logCharge = (cost: number): Charge => ({ kind: 'log', counter: log, limit: 10_000, windowMs: HOUR_MS, cost });

// Mutation: walk the log anew for each check of a batch (316 ms of Redis's time instead of 5, in which nobody else is answered).
it('denies a crowd of expensive calls at the price of one walk through the log', async () => {
  const entries = Array.from({ length: 9_900 }, (_, at) => `${START_MS - 60_000 + at * 6}:1`);
  await admin.rpush(log, 9_900, ...entries);
  const micros = async (checks: number): Promise<number> => {
    await admin.call('CONFIG', 'RESETSTAT');
    for (let round = 0; round < 5; round += 1) {
      const verdicts = await judge(Array.from({ length: checks }, () => checkOf(logCharge(9_000))));
      // 8,900 units have to expire: the 8,900th entry is the last of them.
      for (const verdict of verdicts) expect(verdict).toMatchObject({ status: 'denied', states: [{ remaining: 100, retryAfterMs: HOUR_MS - 60_000 + 8_899 * 6 }] });
    }
    return scriptMicros();
  };
  await micros(1);
  const lone = await micros(1);
  expect(await micros(64)).toBeLessThan(8 * lone);
});

// Mutation: answer the wait as it falls out. A negative one reads as "never", and a 0 as room that is not there.
it('never names a wait that is over, however a planted log is ordered', async () => {
  await admin.rpush(log, 10_000, `${START_MS - 10}:1`, `${START_MS - 2 * HOUR_MS}:5000`, `99999999999999999:4000`, `${START_MS - HOUR_MS}:900`, `${START_MS - 5}:99`);
  for (const cost of [1, 100, 5_000, 9_500, 10_000]) {
    const [verdict] = await judge([checkOf(logCharge(cost))]);
    expect(verdict?.status).toBe('denied');
    if (verdict?.status === 'denied') expect(verdict.states[0]?.retryAfterMs).toBeGreaterThan(0);
  }
});
