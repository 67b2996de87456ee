import { webhookAttempt } from '@quotaplane/contracts';
import { FaultProxy, figure, startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../config/app-config';
import { PrismaService } from '../database/prisma.service';
import { eventually } from '../outbox/worker-rig';
import { attemptDelivery } from './delivery-attempt';
import { claimDeliveries, endPending, fanOutEvents } from './delivery-sql';
import { answering, Receiver, WebhookRig } from './webhook-rig';

const LEASE_MS = 60_000;
const SHARED = figure(100, 2_000);
let postgres: TestPostgres;
let redis: TestRedis;
let rig: WebhookRig;
let clock: TestClock;
let receiver: Receiver;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  rig = new WebhookRig({ databaseUrl: postgres.url, redisUrl: redis.url });
});
beforeEach(async () => {
  clock = new TestClock(Date.now());
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await rig.clear();
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const keys = (count: number, name: string): string[] => Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(3, '0')}`);
const only = async (webhookId: string) => {
  const [row, ...others] = await rig.deliveries(webhookId);
  if (!row || others.length > 0) throw new RangeError('there is not one delivery');
  return { ...row, log: webhookAttempt.array().parse(row.log) };
};

describe('two workers', () => {
  // Mutation: claim without the lease.
  it(`P23 send each of ${SHARED} deliveries once between them`, async () => {
    const { id } = await rig.endpoint(receiver.url, { concurrency: 20 });
    const workers = await Promise.all([rig.sender({ clock }), rig.sender({ clock })]);
    const ids = await rig.events(keys(SHARED, 'shared'));
    await eventually(async () => {
      await Promise.all(workers.map(({ sender }) => sender.drain()));
      return receiver.received.length >= SHARED;
    }, 60_000);
    expect([...receiver.ids].sort()).toEqual([...ids].sort());
    expect((await rig.deliveries(id)).every(({ state, attempts, leasedUntil }) => state === 'delivered' && attempts === 1 && leasedUntil === null)).toBe(true);
  }, 90_000);

  // Mutation: claim without FOR UPDATE SKIP LOCKED.
  it('P23 pass over what the other one is claiming', async () => {
    const { id } = await rig.endpoint(receiver.url);
    await rig.events(keys(2, 'locked'));
    const now = new Date(clock.now());
    await fanOutEvents(rig.prisma, now, 10);
    await rig.prisma.transaction(async (tx) => {
      const [locked] = await tx.$queryRaw<{ id: string }[]>`SELECT id::text AS id FROM webhook_deliveries WHERE webhook_id = ${id}::uuid LIMIT 1 FOR UPDATE`;
      const claimed = await claimDeliveries(rig.prisma, { webhookId: id, most: 2, now, leasedUntil: new Date(now.getTime() + LEASE_MS) });
      expect(claimed.map((delivery) => delivery.id === locked?.id)).toEqual([false]);
    });
  });

  // Mutation: a limiter of each worker's own, or the rate without the slots.
  it('keep an endpoint\'s rate and concurrency together', async () => {
    const open: (() => void)[] = [];
    receiver.answer = (response) => void open.push(() => response.writeHead(204).end());
    const { id } = await rig.endpoint(receiver.url, { ratePerSecond: 6, concurrency: 3 });
    const workers = await Promise.all([rig.sender({ clock }), rig.sender({ clock })]);
    await rig.events(keys(40, 'capped'));
    const pump = (): Promise<void[]> => Promise.all(workers.map(({ sender }) => sender.pump()));
    for (let second = 1; second <= 4; second += 1) {
      await eventually(async () => {
        await pump();
        expect(open.length).toBeLessThanOrEqual(3);
        if (open.length === 3 || receiver.received.length === 6 * second) open.splice(0).forEach((end) => end());
        return receiver.received.length === 6 * second && (await rig.prisma.webhookDelivery.count({ where: { webhookId: id, state: 'delivered' } })) === 6 * second;
      });
      await pump();
      expect(receiver.received.length).toBe(6 * second);
      clock.advance(1_000);
    }
    expect(receiver.mostAtOnce).toBe(3);
    open.forEach((end) => end());
  });

  // Mutation: mark by id alone, without the claim it was made with.
  it('P23 count an attempt once when a claim runs out while its answer is awaited', async () => {
    const answers: ((status: number) => void)[] = [];
    receiver.answer = (response) => void answers.push((status) => response.writeHead(status).end());
    const { id } = await rig.endpoint(receiver.url);
    const [first, second] = await Promise.all([rig.sender({ clock }), rig.sender({ clock })]);
    const [eventId] = await rig.events(['overlap']);
    await first.sender.pump();
    await eventually(() => Promise.resolve(answers.length === 1));
    clock.advance(LEASE_MS);
    await second.sender.pump();
    await eventually(() => Promise.resolve(answers.length === 2));
    // The one whose claim has run out ends first, and with a failure: that must not be what is written down.
    answers[0]?.(500);
    await first.sender.drain();
    expect(await only(id)).toMatchObject({ state: 'pending', attempts: 0, log: [] });
    answers[1]?.(204);
    await second.sender.drain();
    expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 1, log: [{ status: 204 }] });
    expect(receiver.ids).toEqual([eventId, eventId]);
  });
});

describe('an endpoint that hangs', () => {
  // Mutation: wait for a round's attempts before the next round, or claim without regard to whose a delivery is.
  it('holds up nobody but itself', async () => {
    const hanging = await Receiver.start();
    hanging.answer = () => undefined;
    await rig.endpoint(hanging.url, { concurrency: 4 });
    const { id } = await rig.endpoint(receiver.url, { concurrency: 4 });
    const { sender } = await rig.sender({ clock });
    await rig.events(keys(120, 'beside'));
    const startedAt = performance.now();
    sender.start();
    await eventually(async () => (await rig.prisma.webhookDelivery.count({ where: { webhookId: id, state: 'delivered' } })) === 120);
    console.info(`120 deliveries beside a hanging endpoint: ${Math.round(performance.now() - startedAt)} ms`);
    expect([hanging.received.length, hanging.mostAtOnce]).toEqual([4, 4]);
    await hanging.stop();
    await sender.stop();
  });
});

describe('what goes away', () => {
  // Mutation: endPending leaves `leased_until`, or the mark does not look at the state.
  it('an endpoint that is deleted while it is being sent to gets nothing more', async () => {
    const { id } = await rig.endpoint(receiver.url, { concurrency: 1 });
    receiver.answer = (response) => {
      void rig.prisma.transaction(async (tx) => {
        await tx.webhook.update({ where: { id }, data: { deletedAt: new Date() } });
        await endPending(tx, id);
      }).then(() => response.writeHead(500).end());
    };
    const { sender } = await rig.sender({ clock });
    await rig.events(keys(3, 'deleted'));
    await sender.drain();
    clock.advance(LEASE_MS);
    await sender.drain();
    expect(receiver.received).toHaveLength(1);
    expect((await rig.deliveries(id)).map(({ state, nextAttemptAt }) => [state, nextAttemptAt])).toEqual([['failed', null], ['failed', null], ['failed', null]]);
  });

  // Mutation: send without a permit while the limiter is away.
  it('Redis: deliveries wait uncounted and are sent when it is back, empty', async () => {
    const ownRedis = await startRedis();
    const own = new WebhookRig({ databaseUrl: postgres.url, redisUrl: ownRedis.url });
    const { id } = await own.endpoint(receiver.url);
    const { sender } = await own.sender({ clock });
    await ownRedis.kill();
    await own.events(keys(5, 'no-redis'));
    await expect(sender.drain()).rejects.toThrow('the outbound limiter does not answer');
    expect((await own.deliveries(id)).map(({ state, attempts, leasedUntil }) => [state, attempts, leasedUntil])).toEqual(Array.from({ length: 5 }, () => ['pending', 0, null]));
    expect(receiver.received).toEqual([]);
    await ownRedis.restart({ empty: true });
    await eventually(() => sender.drain().then(() => receiver.received.length === 5, () => false));
    expect(new Set(receiver.ids).size).toBe(5);
    await own.stop();
    await ownRedis.stop();
  });

  // Mutation: mark a delivery as sent before it is sent.
  it('Postgres, between the answer and the mark: it is sent again under the same id, and counted once', async () => {
    const proxy = await FaultProxy.start(postgres.url);
    const cut = new PrismaService(readConfig({ DATABASE_URL: proxy.url, REDIS_URL: redis.url }));
    const { id } = await rig.endpoint(receiver.url);
    const { sender } = await rig.sender({ clock, prisma: cut });
    const [eventId] = await rig.events(['no-postgres']);
    receiver.answer = (response, delivery, count) => {
      if (count === 1) proxy.set({ kind: 'reset' });
      answering(200)(response, delivery, count);
    };
    await sender.drain().catch(() => undefined);
    expect(await only(id)).toMatchObject({ state: 'pending', attempts: 0 });
    await expect(sender.drain()).rejects.toThrow();
    proxy.set({ kind: 'none' });
    clock.advance(LEASE_MS);
    await eventually(() => sender.drain().then(() => receiver.received.length === 2, () => false));
    expect(receiver.ids).toEqual([eventId, eventId]);
    expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 1 });
    await sender.stop();
    await cut.$disconnect();
    await proxy.stop();
  });

  // Mutation: a stop that counts what it cut off as a failure, or keeps the claim.
  it('a worker that is told to stop: what is under way ends, and nothing new is taken', async () => {
    let end: () => void = () => undefined;
    receiver.answer = (response) => {
      end = () => response.writeHead(204).end();
    };
    const { id } = await rig.endpoint(receiver.url, { concurrency: 1 });
    const { sender } = await rig.sender({ clock });
    await rig.events(keys(2, 'stopping'));
    await sender.pump();
    await eventually(() => Promise.resolve(receiver.received.length === 1));
    const stopped = sender.stop();
    end();
    await stopped;
    const states = (await rig.deliveries(id)).map(({ state, attempts }) => `${state} ${attempts}`).sort();
    expect([states, receiver.received.length]).toEqual([['delivered 1', 'pending 0'], 1]);
  });

  // Mutation: write down what was cut off, or leave its claim to run out.
  it('a worker that stops before an answer comes: the attempt is cut off, not counted, and free for the next worker', async () => {
    receiver.answer = () => undefined;
    const { id } = await rig.endpoint(receiver.url);
    const { sender, parts } = await rig.sender({ clock });
    const [eventId] = await rig.events(['cut-off']);
    await fanOutEvents(rig.prisma, new Date(clock.now()), 10);
    const [claimed] = await claimDeliveries(rig.prisma, { webhookId: id, most: 1, now: new Date(clock.now()), leasedUntil: new Date(clock.now() + LEASE_MS) });
    if (!claimed) throw new RangeError('nothing was claimed');
    const stop = new AbortController();
    const attempt = attemptDelivery(parts, claimed, stop.signal);
    await eventually(() => Promise.resolve(receiver.received.length === 1));
    stop.abort();
    expect(await attempt).toBe('unmarked');
    expect(await only(id)).toMatchObject({ state: 'pending', attempts: 0, leasedUntil: null, log: [] });
    receiver.answer = answering(204);
    await sender.drain();
    expect(receiver.ids).toEqual([eventId, eventId]);
    expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });
});
