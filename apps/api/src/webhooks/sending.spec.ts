import { webhookAttempt } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANSWER_MAX_BYTES } from './post-delivery';
import type { ResolveName } from './receiver-address';
import { newSecret } from './signature';
import { answering, Receiver, WebhookRig } from './webhook-rig';
import type { WebhookSender } from './webhook-sender';

const HOUR_MS = 3_600_000;
let postgres: TestPostgres;
let redis: TestRedis;
let rig: WebhookRig;
let clock: TestClock;
let sender: WebhookSender;
let receiver: Receiver;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  rig = new WebhookRig({ databaseUrl: postgres.url, redisUrl: redis.url });
});
beforeEach(async () => {
  clock = new TestClock(Date.now());
  ({ sender } = await rig.sender({ clock }));
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

const only = async (webhookId: string) => {
  const [row] = await rig.deliveries(webhookId);
  if (!row) throw new RangeError('there is no delivery');
  return { ...row, log: webhookAttempt.array().parse(row.log) };
};

describe('a delivery', () => {
  it('carries the event, signed by Standard Webhooks, to whoever asked for its type and tenant', async () => {
    const all = await rig.endpoint(receiver.url);
    await rig.endpoint(receiver.url, { tenant: 'other' });
    await rig.endpoint(receiver.url, { events: ['tenant.limited', 'usage.period_closed'] });
    const mine = await rig.endpoint(receiver.url, { tenant: 'acme', events: ['override.ending', 'tenant.limited'] });
    const at = new Date(clock.now() - 5_000);
    const [eventId] = await rig.events(['one'], { at });
    await sender.drain();
    expect(receiver.received).toHaveLength(2);
    for (const { secret, id } of [all, mine]) {
      const verifier = new Webhook(secret);
      const verified = receiver.received.flatMap(({ body, headers }) => {
        try {
          return [verifier.verify(body, headers)];
        } catch {
          return [];
        }
      });
      expect(verified).toEqual([{ type: 'override.ending', timestamp: at.toISOString(), data: { tenant: 'acme', key: 'one' } }]);
      expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 1, nextAttemptAt: null, leasedUntil: null, log: [{ status: 204, error: null }] });
      expect(await rig.prisma.webhook.findUniqueOrThrow({ where: { id } })).toMatchObject({ lastStatus: '204', version: 1 });
    }
    expect(receiver.ids).toEqual([eventId, eventId]);
  });

  // Mutation: recordEvents without skipDuplicates, or no unique (webhook, event).
  it('is made once, though its event is noticed twice and fanned out by two workers at once', async () => {
    const { id } = await rig.endpoint(receiver.url);
    const { sender: second } = await rig.sender({ clock });
    await Promise.all([rig.events(['twice']), rig.events(['twice'])]);
    await Promise.all([sender.drain(), second.drain()]);
    await rig.events(['twice']);
    await Promise.all([sender.drain(), second.drain()]);
    expect([receiver.received.length, (await rig.deliveries(id)).length]).toEqual([1, 1]);
  });

  // Mutation: sign with the newest secret only; or keep the former one for ever.
  it('is signed with the former secret too until its overlap ends', async () => {
    const former = newSecret();
    const { id, secret } = await rig.endpoint(receiver.url);
    await rig.prisma.webhook.update({ where: { id }, data: { formerSecret: former, formerSecretUntil: new Date(clock.now() + 1_000) } });
    await rig.events(['during']);
    await sender.drain();
    clock.advance(1_000);
    await rig.events(['past']);
    await sender.drain();
    const [during, past] = receiver.received;
    for (const each of [secret, former]) expect(() => new Webhook(each).verify(during?.body ?? '', during?.headers ?? {})).not.toThrow();
    expect(() => new Webhook(secret).verify(past?.body ?? '', past?.headers ?? {})).not.toThrow();
    expect(() => new Webhook(former).verify(past?.body ?? '', past?.headers ?? {})).toThrow();
  });
});

describe('a receiver that fails', () => {
  // Mutation: count an attempt before it is made, or leave the last wait out.
  it('is tried by the published schedule under one id, and given up after it', async () => {
    receiver.answer = answering(500);
    const { id } = await rig.endpoint(receiver.url);
    const [eventId] = await rig.events(['failing']);
    await sender.drain();
    for (const [index, waitS] of [5, 30, 120, 900, 3_600, 14_400, 43_200, 86_400].entries()) {
      clock.advance(waitS * 1000 - 1);
      await sender.drain();
      expect(receiver.received).toHaveLength(index + 1);
      clock.advance(1);
      await sender.drain();
      expect(receiver.received).toHaveLength(index + 2);
    }
    expect(await only(id)).toMatchObject({ state: 'given-up', attempts: 9, nextAttemptAt: null });
    expect((await only(id)).log).toHaveLength(9);
    expect(new Set(receiver.ids)).toEqual(new Set([eventId]));
    clock.advance(48 * HOUR_MS);
    await sender.drain();
    expect(receiver.received).toHaveLength(9);
  });

  // Mutation: not look at Retry-After.
  it('is left alone for as long as its Retry-After asks', async () => {
    receiver.answer = (response, _delivery, count) => answering(count === 1 ? 503 : 200, { 'retry-after': '600' })(response, _delivery, count);
    const { id } = await rig.endpoint(receiver.url);
    await rig.events(['busy']);
    await sender.drain();
    expect((await only(id)).nextAttemptAt?.getTime()).toBe(clock.now() + 600_000);
    clock.advance(600_000);
    await sender.drain();
    expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 2, log: [{ status: 200 }, { status: 503, error: 'answered 503' }] });
  });

  // Mutation: disable without ending what waits.
  it('ends its endpoint with 410, and all that waits for it', async () => {
    receiver.answer = answering(410);
    const { id } = await rig.endpoint(receiver.url, { concurrency: 2 });
    await rig.events(['gone-1', 'gone-2', 'gone-3', 'gone-4', 'gone-5']);
    await sender.drain();
    expect(receiver.received.length).toBeLessThanOrEqual(2);
    expect(await rig.prisma.webhook.findUniqueOrThrow({ where: { id } })).toMatchObject({ status: 'gone', disabledReason: 'The receiver answered 410 Gone', version: 2 });
    expect(new Set((await rig.deliveries(id)).map(({ state }) => state))).toEqual(new Set(['failed']));
    const entry = await rig.prisma.auditEntry.findFirstOrThrow({ where: { action: 'webhook.gone', entityId: id } });
    expect(JSON.stringify([entry.before, entry.after])).not.toContain('whsec_');
    await rig.events(['gone-6']);
    await sender.drain();
    expect(await rig.deliveries(id)).toHaveLength(5);
  });

  // Mutation: follow the redirect.
  it('is not followed where it redirects', async () => {
    const target = await Receiver.start();
    receiver.answer = answering(307, { location: target.url });
    const { id } = await rig.endpoint(receiver.url);
    await rig.events(['redirect']);
    await sender.drain();
    expect(target.received).toEqual([]);
    expect(await only(id)).toMatchObject({ state: 'pending', log: [{ status: 307 }] });
    await target.stop();
  });

  it('is cut off at the time limit, and one that is not there is told apart', async () => {
    const { sender: hasty } = await rig.sender({ clock, timeoutMs: 100 });
    receiver.answer = () => undefined;
    const slow = await rig.endpoint(receiver.url);
    const absent = await rig.endpoint('http://127.0.0.1:1/');
    await rig.events(['slow']);
    await hasty.drain();
    expect(await only(slow.id)).toMatchObject({ state: 'pending', attempts: 1, log: [{ status: null, error: 'did not answer in time' }] });
    expect(await only(absent.id)).toMatchObject({ state: 'pending', attempts: 1, log: [{ status: null, error: 'cannot be reached (ECONNREFUSED)' }] });
  });

  // Mutation: read the whole answer.
  it('is believed by its status and not read past 16 kB', async () => {
    let written = 0;
    receiver.answer = (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(ANSWER_MAX_BYTES);
      const writeOn = (): void => {
        if (response.destroyed) return;
        written += chunk.length;
        response.write(chunk, writeOn);
      };
      writeOn();
    };
    const { id } = await rig.endpoint(receiver.url);
    await rig.events(['endless']);
    await sender.drain();
    expect(await only(id)).toMatchObject({ state: 'delivered', attempts: 1 });
    // What the sockets of both sides hold comes on top.
    expect(written).toBeLessThan(16_000_000);
  });
});

describe('a name that leads inside', () => {
  const inside: ResolveName = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

  // Mutation: judge at save only.
  it('is refused at each send, and tried again by the schedule', async () => {
    const { sender: strict } = await rig.sender({ clock, allowPrivate: false, resolve: inside });
    const { id } = await rig.endpoint(`https://hooks.example:${receiver.port}/`);
    await rig.events(['inside']);
    await strict.drain();
    expect(receiver.received).toEqual([]);
    expect(await only(id)).toMatchObject({ state: 'pending', attempts: 1, log: [{ status: null, error: 'not sent: the URL leads to 127.0.0.1, which is not a public address' }] });
  });

  // Mutation: hand the name to the connection without `lookup`, which resolves it a second time.
  it('is resolved once: the connection goes to the address that was judged (DNS rebinding)', async () => {
    let asked = 0;
    const rebinding: ResolveName = () => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    const { sender: judged } = await rig.sender({ clock, resolve: rebinding });
    // A name that no resolver knows: only what was judged can be connected to.
    const { id } = await rig.endpoint(`http://rebinding.invalid:${receiver.port}/hook`);
    await rig.events(['rebind']);
    await judged.drain();
    expect([asked, receiver.received.length, receiver.received[0]?.headers['host']]).toEqual([1, 1, `rebinding.invalid:${receiver.port}`]);
    expect(await only(id)).toMatchObject({ state: 'delivered' });
  });
});
