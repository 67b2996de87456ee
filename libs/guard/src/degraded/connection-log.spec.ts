import { connectLimitRedis } from '@quotaplane/rate-limit';
import { freePort, startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionLog } from './connection-log';

describe('the log of the guard\'s connection', () => {
  const clock = { ms: 0 };
  const ends: (() => Promise<void> | void)[] = [];
  const watch = (url: string): string[] => {
    const lines: string[] = [];
    const redis = connectLimitRedis(url);
    ends.push(() => redis.disconnect());
    new ConnectionLog(redis, { write: (line) => lines.push(line), now: () => clock.ms });
    return lines;
  };
  const start = async (port: number): Promise<TestRedis> => {
    const redis = await startRedis({ port });
    ends.push(() => redis.stop());
    return redis;
  };
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('names address and reason at once, then counts once a minute, and says when it is back', async () => {
    const port = await freePort();
    const lines = watch(`redis://127.0.0.1:${port}`);
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toContain(`Redis 127.0.0.1:${port} cannot be used: ECONNREFUSED; until`);
    clock.ms += 59_000;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(lines).toHaveLength(1);
    clock.ms += 2000;
    await expect.poll(() => lines, { timeout: 3000 }).toHaveLength(2);
    expect(lines[1]).toMatch(/ECONNREFUSED \(\d+ attempts failed, for 61 s\)/);
    await start(port);
    await expect.poll(() => lines, { timeout: 3000 }).toHaveLength(3);
    expect(lines[2]).toMatch(/is back after 61 s \(\d+ attempts failed\)$/);
  });

  it('says that a connection was lost', async () => {
    const redis = await start(await freePort());
    const lines = watch(redis.url);
    const other = connectLimitRedis(redis.url);
    await new Promise((resolve) => other.once('ready', resolve));
    other.disconnect();
    expect(lines).toEqual([]);
    await redis.kill();
    await expect.poll(() => lines.join('\n')).toMatch(/127\.0\.0\.1:\d+ cannot be used/);
  });

  it.each([
    ['redis://', 'NOAUTH Authentication required; check redisUrl'],
    ['redis://:0penSesame@', 'WRONGPASS invalid username-password pair or user is disabled; check redisUrl'],
  ])('tells a refusal in the server\'s words, never the password (%s)', async (scheme, expected) => {
    const redis = await start(await freePort());
    const admin = new Redis(redis.url);
    await admin.config('SET', 'requirepass', 'another');
    const lines = watch(`${scheme}127.0.0.1:${redis.port}`);
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toContain(`127.0.0.1:${redis.port} cannot be used: ${expected}`);
    expect(lines[0]).not.toContain('0penSesame');
    await admin.config('SET', 'requirepass', '');
    admin.disconnect();
  });
});
