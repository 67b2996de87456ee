import { redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OffenderLog, minuteOf, readOffenders } from './offender-log';
import { TrafficLog, readTrafficMinute } from './traffic-log';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await redis.flushall();
});

const NOW_MS = Date.UTC(2026, 10, 30, 12);
const denial = { tenant: 'hobby', scope: 'tenant', subject: 'hobby', limit: 'per-minute', class: 'default' } as const;

describe('OffenderLog', () => {
  it('adds denials up over nodes and minutes, worst subject first, and forgets those out of the window', async () => {
    let nowMs = NOW_MS - 20 * 60_000;
    const nodes = [1, 2].map(() => new OffenderLog({ redis, storeNow: () => nowMs }));
    nodes[0]?.record(denial);
    await nodes[0]?.flush();
    nowMs = NOW_MS;
    for (const node of nodes) {
      node.record(denial);
      node.record({ ...denial, limit: 'search' });
      node.record({ ...denial, tenant: 'acme', subject: 'acme' });
      await node.flush();
    }
    const { rows, totalDenials } = await readOffenders(redis, { minutes: 15, nowMs, limit: 10 });
    expect(totalDenials).toBe(6);
    expect(rows).toEqual([
      { tenant: 'hobby', scope: 'tenant', subject: 'hobby', denials: 4, lastSeenMs: NOW_MS, limits: [{ name: 'per-minute', denials: 2 }, { name: 'search', denials: 2 }] },
      { tenant: 'acme', scope: 'tenant', subject: 'acme', denials: 2, lastSeenMs: NOW_MS, limits: [{ name: 'per-minute', denials: 2 }] },
    ]);
    expect(await redis.pttl(redisKeys.offenders(minuteOf(NOW_MS)))).toBeGreaterThan(0);
  });

  // Mutation: read one minute less, or judge by the minute instead of the last denial.
  it('keeps a subject for a whole window after its last denial, also when the minute turns, and no longer', async () => {
    let nowMs = NOW_MS + 59_999;
    const log = new OffenderLog({ redis, storeNow: () => nowMs });
    log.record(denial);
    await log.flush();
    await redis.zadd(redisKeys.offenders(minuteOf(NOW_MS)), 5, 'not ours');
    const seen = async (): Promise<number> => (await readOffenders(redis, { minutes: 1, nowMs, limit: 10 })).totalDenials;
    nowMs = NOW_MS + 60_001;
    expect(await seen()).toBe(1);
    nowMs = NOW_MS + 119_999;
    expect(await seen()).toBe(1);
    nowMs = NOW_MS + 120_000;
    expect(await seen()).toBe(0);
  });

  it('keeps bounded memory and tells what it had no room for, or lost with a failed flush', async () => {
    let dropped = 0;
    const log = new OffenderLog({ redis, storeNow: () => NOW_MS, maxEntries: 2, onDropped: (count) => { dropped += count; } });
    for (const subject of ['a', 'b', 'c', 'a']) log.record({ ...denial, subject });
    expect(dropped).toBe(1);
    // A key of another type refuses the flush: the three counts it carried are named too.
    await redis.set(redisKeys.offenders(minuteOf(NOW_MS)), 'not a sorted set');
    expect(await log.flush()).toBe(false);
    expect(dropped).toBe(4);
  });
});

describe('TrafficLog', () => {
  it('adds calls, units and denials up by tenant and limit', async () => {
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS });
    log.allowed('acme', 10);
    log.allowed('acme', 0);
    log.denied('acme', 'per-minute');
    await log.flush();
    log.denied('acme', 'per-minute');
    log.allowed('hobby', 1);
    await log.flush();
    expect(await readTrafficMinute(redis, minuteOf(NOW_MS))).toEqual([
      { tenant: 'acme', allowed: 2, units: 10, denied: 2, deniedByLimit: { 'per-minute': 2 } },
      { tenant: 'hobby', allowed: 1, units: 1, denied: 0, deniedByLimit: {} },
    ]);
  });
});
