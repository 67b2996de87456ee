import { redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { slotKey } from '../counter-key';
import { connected } from '../rig/connected';
import { mostHeld, startSlotHolders, type HeldTime, type HolderOrder } from '../rig/slot-holders';
import { connectLimitRedis, type LimitRedis } from './connect-limit-redis';

const CAP = 10;
const LEASE_MS = 2_000;
const COUNTER = slotKey({ tenant: 't', name: 'in-flight', generation: 1 });
const orderOf = (change: Partial<HolderOrder>): HolderOrder => ({ counter: COUNTER, limit: CAP, forMs: 3_000, inFlight: 50, mostHoldMs: 30, ...change });
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let server: TestRedis;
let redis: LimitRedis;
let fleet: Awaited<ReturnType<typeof startSlotHolders>>;

const start = async (count: number): Promise<void> => {
  fleet = await startSlotHolders(count, server.url, LEASE_MS);
};

beforeEach(async () => {
  server = await startRedis();
  redis = await connected(connectLimitRedis(server.url));
  await redis.set(redisKeys.head('t'), '7.1');
});

afterEach(async () => {
  await fleet.close();
  redis.disconnect();
  await server.stop();
});

/** Redis as it is, paused, cut off and killed with its data, in turns. */
const disturb = async (forMs: number): Promise<void> => {
  const untilMs = nowMs() + forMs;
  for (let turn = 0; nowMs() < untilMs; turn += 1) {
    await sleep(300);
    if (turn % 3 === 0) {
      server.pause();
      await sleep(turn % 2 === 0 ? 1_500 : LEASE_MS + 600);
      server.resume();
    } else if (turn % 3 === 1) await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    else await server.restart();
    await connected(redis);
  }
};

// Mutations: let an overtaken word count; take the stored own count in place of the caller's; lose slots at the end of the lease that the store believes in.
it.each([['quiet', 4_000], ['disturbed', 14_000]] as const)('R2 never has more than the cap in use by 4 processes with 200 calls in flight, on a %s store', { timeout: 60_000 }, async (mood, forMs) => {
  await start(4);
  const [times] = await Promise.all([
    Promise.all(fleet.holders.map((holder) => holder.work(orderOf({ forMs })))),
    mood === 'quiet' ? undefined : disturb(forMs - 2_000),
  ]);
  const all = times.flat();
  console.info(`${mood}: ${all.length} slots held, ${all.filter(({ isLost }) => isLost).length} lost, ${mostHeld(all).count} at once at most`);
  expect(all.length).toBeGreaterThan(50);
  expect(mostHeld(all).count).toBe(CAP);
  // And nothing leaks: soon after the end all is free again.
  await sleep(LEASE_MS + 200);
  const fields = Object.values(await redis.hgetall(COUNTER));
  expect(fields.filter((text) => Number(text.split(':')[0]) > 0 && Number(text.split(':')[1]) > Date.now())).toEqual([]);
});

// Mutations: HDEL the field of a process that closed its connection; keep it past its lease.
it('returns a killed process\'s share when its lease ends, and no sooner than its last renewal allows', { timeout: 60_000 }, async () => {
  await start(3);
  const [victim, ...others] = fleet.holders;
  const share = 4;
  void victim!.work(orderOf({ limit: share, inFlight: share, mostHoldMs: 0, forMs: 1 })).catch(() => undefined);
  await sleep(200);
  // Held for long: the whole share, renewed until the kill.
  void victim!.work(orderOf({ limit: share, inFlight: share, mostHoldMs: 10_000_000, forMs: 60_000 })).catch(() => undefined);
  await sleep(1_500);
  const killedAtMs = nowMs();
  await victim!.kill();
  const times = (await Promise.all(others.map((holder) => holder.work(orderOf({ forMs: 2 * LEASE_MS + 500, inFlight: 30 }))))).flat();
  const within = (fromMs: number, untilMs: number): HeldTime[] =>
    times.filter((time) => time.untilMs > fromMs && time.fromMs < untilMs).map((time) => ({ ...time, fromMs: Math.max(time.fromMs, fromMs), untilMs: Math.min(time.untilMs, untilMs) }));
  expect(mostHeld(within(killedAtMs, killedAtMs + LEASE_MS / 2)).count).toBe(CAP - share);
  expect(mostHeld(within(killedAtMs + LEASE_MS + 50, Infinity)).count).toBe(CAP);
  expect(mostHeld(times).count).toBe(CAP);
});
