import { MINUTE_STATS_TTL_MS, redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { minuteOf } from './minute-log';
import { OffenderLog } from './offender-log';
import { readOffenders } from './offender-reader';
import { RetryWatch } from './retry-watch';
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
      { tenant: 'hobby', scope: 'tenant', subject: 'hobby', denials: 4, error: 0, lastSeenMs: NOW_MS, limits: [{ name: 'per-minute', denials: 2 }, { name: 'search', denials: 2 }], honoursRetryAfter: null },
      { tenant: 'acme', scope: 'tenant', subject: 'acme', denials: 2, error: 0, lastSeenMs: NOW_MS, limits: [{ name: 'per-minute', denials: 2 }], honoursRetryAfter: null },
    ]);
    expect(await redis.pttl(redisKeys.offenders(minuteOf(NOW_MS)))).toBeGreaterThan(0);
  });

  // Mutation: read one minute less, or judge by the minute instead of the last denial.
  it('keeps a subject for a whole window after its last denial, also when the minute turns, and no longer', async () => {
    let nowMs = NOW_MS + 59_999;
    const log = new OffenderLog({ redis, storeNow: () => nowMs });
    log.record(denial);
    await log.flush();
    await redis.hset(redisKeys.offenders(minuteOf(NOW_MS)), 'not ours', '{"floor":0}');
    await redis.set(redisKeys.offenders(minuteOf(NOW_MS) - 1), 'not ours either');
    const seen = async (): Promise<number> => (await readOffenders(redis, { minutes: 1, nowMs, limit: 10 })).totalDenials;
    nowMs = NOW_MS + 60_001;
    expect(await seen()).toBe(1);
    nowMs = NOW_MS + 119_999;
    expect(await seen()).toBe(1);
    nowMs = NOW_MS + 120_000;
    expect(await seen()).toBe(0);
  });

  // Mutation: add what a flush carries to what is there instead of replacing it.
  it('counts once what is written twice, and keeps counting a minute that the store has lost', async () => {
    const log = new OffenderLog({ redis, storeNow: () => NOW_MS });
    const denials = async (): Promise<number | undefined> => (await readOffenders(redis, { minutes: 1, nowMs: NOW_MS, limit: 10 })).rows[0]?.denials;
    log.record(denial);
    await log.flush();
    log.record(denial);
    await log.flush();
    expect(await denials()).toBe(2);
    await redis.flushall();
    log.record(denial);
    await log.close();
    expect(await denials()).toBe(3);
  });

  // Mutation: forget a minute once a flush of it has failed.
  it('keeps what a failed flush carried, for five minutes, and tells what it then drops', async () => {
    let dropped = 0;
    let nowMs = NOW_MS;
    const log = new OffenderLog({ redis, storeNow: () => nowMs, onDropped: (count) => { dropped += count; } });
    // A key of another type refuses each flush.
    await redis.set(redisKeys.offenders(minuteOf(NOW_MS)), 'not a hash');
    for (let minute = 0; minute < 7; minute += 1) {
      nowMs = NOW_MS + minute * 60_000;
      for (let count = 0; count < 3; count += 1) log.record(denial);
      expect(await log.flush()).toBe(minute > 5);
      expect(dropped).toBe(minute > 5 ? 3 : 0);
    }
    expect((await readOffenders(redis, { minutes: 10, nowMs, limit: 10 })).rows[0]?.denials).toBe(18);
  });

  it('carries with the denials of a subject whether it waited as told', async () => {
    const log = new OffenderLog({ redis, storeNow: () => NOW_MS });
    const watch = new RetryWatch({ onRetry: (result, subject) => log.retried(subject, result) });
    log.record(denial);
    watch.denied('hobby default', { subject: denial, deniedAtMs: NOW_MS, retryAfterMs: 1_000 });
    watch.called('hobby default', NOW_MS + 1_000);
    await log.flush();
    expect((await readOffenders(redis, { minutes: 1, nowMs: NOW_MS, limit: 1 })).rows[0]?.honoursRetryAfter).toBe(true);
  });

  it('lists the heavy ones of 20,000 subjects over two nodes, within the error it states', async () => {
    const nodes = [1, 2].map(() => new OffenderLog({ redis, storeNow: () => NOW_MS, counters: 50 }));
    for (let index = 0; index < 20_000; index += 1) {
      nodes[index % 2]?.record({ ...denial, scope: 'ip', subject: `10.0.${index >> 8}.${index & 255}` });
      if (index % 5 === 0) nodes[(index / 5) % 2]?.record({ ...denial, scope: 'ip', subject: '192.0.2.1' });
    }
    for (const node of nodes) await node.flush();
    const { rows, totalDenials } = await readOffenders(redis, { minutes: 1, nowMs: NOW_MS, limit: 1 });
    expect(totalDenials).toBe(24_000);
    expect(rows[0]?.subject).toBe('192.0.2.1');
    expect(Math.abs((rows[0]?.denials ?? 0) - 4_000)).toBeLessThanOrEqual(rows[0]?.error ?? 0);
    expect(rows[0]?.error).toBeLessThanOrEqual(24_000 / 50);
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

  it('keeps bounded memory and tells what it had no room for, or lost with a failed flush', async () => {
    let dropped = 0;
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS, maxEntries: 2, onDropped: (count) => { dropped += count; } });
    for (const limit of ['a', 'b', 'c', 'a']) log.denied('acme', limit);
    expect(dropped).toBe(1);
    // A key of another type refuses the flush: the three counts it carried are named too.
    await redis.set(redisKeys.traffic(minuteOf(NOW_MS)), 'not a hash');
    expect(await log.flush()).toBe(false);
    expect(dropped).toBe(4);
  });

  it('writes more tenants than one call takes, each exactly, and again after the store has lost its scripts', async () => {
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS });
    for (let flush = 1; flush <= 2; flush += 1) {
      for (let index = 0; index < 1_001; index += 1) log.allowed(`t${index}`, index === 1_000 ? 2 ** 52 - 1 : 3);
      expect(await log.flush()).toBe(true);
      await redis.script('FLUSH');
    }
    const rows = await readTrafficMinute(redis, minuteOf(NOW_MS));
    expect(rows).toHaveLength(1_001);
    expect(rows.filter(({ allowed, units }) => allowed === 2 && units === 6)).toHaveLength(1_000);
    expect(rows.find(({ tenant }) => tenant === 't1000')?.units).toBe(2 ** 53 - 2);
  });

  it('drops and tells only the count that could not be added, and leaves a key of another type as it is', async () => {
    const key = redisKeys.traffic(minuteOf(NOW_MS));
    let dropped = 0;
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS, onDropped: (count) => { dropped += count; } });
    // More digits than Lua writes of a number by itself.
    const units = 2 ** 52 - 1;
    await redis.hset(key, 'acme|units', 'no number');
    log.allowed('acme', units);
    expect(await log.flush()).toBe(false);
    expect(dropped).toBe(units);
    expect(await redis.hget(key, 'acme|allowed')).toBe('1');
    await redis.set(key, 'not a hash');
    log.allowed('acme', 0);
    expect(await log.flush()).toBe(false);
    expect(dropped).toBe(units + 1);
    expect(await redis.pttl(key)).toBe(-1);
  });

  // Mutation: give up after the first call that fails.
  it('tells every count of a flush whose calls all failed', async () => {
    let dropped = 0;
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS, onDropped: (count) => { dropped += count; } });
    await redis.set(redisKeys.traffic(minuteOf(NOW_MS)), 'not a hash');
    for (let index = 0; index < 1_001; index += 1) log.allowed(`t${index}`, 0);
    expect(await log.flush()).toBe(false);
    expect(dropped).toBe(1_001);
  });

  // Mutation: take any error for that of a store without its scripts.
  it('sends nothing again that the store may have added: an error in mid-script is told, and not answered by a second call', async () => {
    await redis.call('ACL', 'SETUSER', 'flusher', 'on', '>flusher', '~*', '+@all', '-pexpire');
    const lesser = new Redis(server.url, { username: 'flusher', password: 'flusher' });
    try {
      for (const client of [redis, lesser]) {
        const log = new TrafficLog({ redis: client, storeNow: () => NOW_MS });
        log.allowed('acme', 0);
        expect(await log.flush()).toBe(client === redis);
      }
    } finally {
      lesser.disconnect();
    }
    expect((await readTrafficMinute(redis, minuteOf(NOW_MS)))[0]?.allowed).toBe(2);
  });

  // Mutation: leave the life out.
  it('gives a minute a life that each flush begins anew', async () => {
    const key = redisKeys.traffic(minuteOf(NOW_MS));
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS });
    for (let flush = 1; flush <= 2; flush += 1) {
      log.allowed('acme', 1);
      await log.flush();
      expect(await redis.pttl(key)).toBeGreaterThan(MINUTE_STATS_TTL_MS / 2);
      await redis.pexpire(key, 60_000);
    }
  });

  it('has room for new tenants where those of the last flush did not come again', async () => {
    let dropped = 0;
    const log = new TrafficLog({ redis, storeNow: () => NOW_MS, maxEntries: 2, onDropped: (count) => { dropped += count; } });
    for (const tenant of ['a', 'b']) log.allowed(tenant, 0);
    await log.flush();
    for (const tenant of ['c', 'd']) log.allowed(tenant, 0);
    expect(dropped).toBe(0);
  });
});
