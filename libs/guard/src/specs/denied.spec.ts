import type { CompiledLimit } from '@quotaplane/contracts';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../decide/call';
import { fieldsOf } from '../http/ratelimit-fields';
import { DecisionRig } from './decision-rig';
import { limitOf, type PolicyParts } from './policies';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const windowOf = (parts: Partial<CompiledLimit> = {}): CompiledLimit => limitOf({ algorithm: 'fixed-window', limit: 10, burst: null, alignment: 'first-hit', ...parts });
const REFUNDING: Call['class'] = { slug: 'refunding', meter: 'requests', failMode: 'local', refundOn: ['5xx'] };

describe('a subject that is surely denied', () => {
  let redis: TestRedis;
  let client: ReturnType<typeof connectLimitRedis>;
  let rig: DecisionRig;

  beforeAll(async () => {
    redis = await startRedis();
    client = connectLimitRedis(redis.url);
  });
  afterAll(async () => {
    client.disconnect();
    await redis.stop();
  });
  beforeEach(() => {
    rig = new DecisionRig(client, 250);
  });

  const outcomes = async (count: number, parts: Partial<Call> = {}): Promise<string[]> => {
    const found: string[] = [];
    for (let at = 0; at < count; at += 1) found.push((await rig.decide(parts)).outcome);
    return found;
  };
  /** Uses ten units up, is denied once, and forgets what that asked. */
  const denied = async (parts: PolicyParts = { limits: [windowOf()] }): Promise<void> => {
    rig.publish(parts);
    expect(await outcomes(11)).toEqual([...Array<string>(10).fill('allowed'), 'denied']);
    rig.store.calls = 0;
  };

  // Mutation: remember a denial from the moment the last unit was given, or for calls of another cost.
  it.each([250, 0])('C005 gives the last unit with a memory of %d ms, also to a cheaper call, and denies the next', async (deniedForMs) => {
    rig = new DecisionRig(client, deniedForMs);
    rig.publish({ limits: [windowOf()] });
    expect(await outcomes(11)).toEqual([...Array<string>(10).fill('allowed'), 'denied']);
    rig.clock.advance(MINUTE_MS);
    expect(await outcomes(2, { cost: 4 })).toEqual(['allowed', 'allowed']);
    expect(await outcomes(3, { cost: 4 })).toEqual(['denied', 'denied', 'denied']);
    expect(await outcomes(3)).toEqual(['allowed', 'allowed', 'denied']);
  });

  // Mutation: keep a denial for 251 ms, or count its time anew with each answer.
  it('is answered without the store for 250 ms, with the figures of that very instant, and each denial is counted', async () => {
    await denied();
    const untilMs = rig.clock.now() + MINUTE_MS;
    for (let at = 1; at <= 1000; at += 1) {
      rig.clock.advance(1);
      const decision = await rig.decide();
      const leftMs = untilMs - rig.clock.now();
      expect(decision).toMatchObject({ outcome: 'denied', source: 'store', code: 'rate_limited', retryAfterMs: leftMs, nowMs: rig.clock.now() });
      expect(decision.binding).toMatchObject({ remaining: 0, retryAfterMs: leftMs, resetAfterMs: leftMs, moreAfterMs: leftMs });
      expect(Object.fromEntries(fieldsOf(decision, { legacyHeaders: false }))).toMatchObject({ 'Retry-After': String(Math.ceil(leftMs / 1000)), 'RateLimit-Remaining': '0' });
    }
    expect(rig.store.calls).toBe(4);
    expect(rig.denials).toEqual(Array<string>(1001).fill('hobby per-minute'));
  });

  // Mutation: count the time from the answer, or do not hold it against the wait that the store told.
  it('is let through at the instant that the store named, however long check and answer were on the way', async () => {
    rig.publish({ limits: [limitOf({ limit: 10, windowMs: 1000, burst: 1 })] });
    await rig.decide();
    rig.store.onTheWay = { toMs: 0, backMs: 40 };
    const { retryAfterMs } = await rig.decide();
    rig.store.onTheWay = { toMs: 0, backMs: 0 };
    expect(retryAfterMs).toBe(100);
    rig.clock.advance(59);
    rig.store.calls = 0;
    expect((await rig.decide()).retryAfterMs).toBe(41);
    expect(rig.store.calls).toBe(0);
    rig.clock.advance(1);
    expect((await rig.decide()).outcome).toBe('allowed');
  });

  // Mutation: leave the head out of what a denial is remembered under, or the mark that the feed sets.
  it('is let through at once by a raise: when the feed names it, or when another call of the tenant meets the new head', async () => {
    await denied();
    rig.publish({ limits: [windowOf({ limit: 12 })] });
    rig.announce();
    expect(await outcomes(3)).toEqual(['allowed', 'allowed', 'denied']);
    rig.publish({ limits: [windowOf({ limit: 13 })] });
    await rig.decide({ cost: 0 });
    expect(await outcomes(2)).toEqual(['allowed', 'denied']);
  });

  // Mutation: do not open the memory where units go back, or only for calls of the class that gave them back.
  it('is let through when a call of another class gives its units back', async () => {
    rig.publish({ limits: [windowOf()] });
    const refunding = await rig.decide({ class: REFUNDING, cost: 5 });
    expect(await outcomes(6)).toEqual([...Array<string>(5).fill('allowed'), 'denied']);
    refunding.release?.({ statusCode: 503, isAborted: false });
    expect(await outcomes(6)).toEqual([...Array<string>(5).fill('allowed'), 'denied']);
  });

  // Mutation: remember denials while a call that got no answer may still be given back.
  it('is not remembered for 2 s after a call that the store did not answer, for its units may come back late', async () => {
    await denied();
    rig.store.isAway = true;
    await rig.decide({ cost: 0 });
    rig.store.isAway = false;
    rig.store.calls = 0;
    await outcomes(5);
    expect(rig.store.calls).toBe(5);
    rig.clock.advance(2001);
    await outcomes(5);
    expect(rig.store.calls).toBe(6);
  });

  // Mutation: answer from memory for as long as the store is away.
  it('falls to the fail mode of its class once its 250 ms are over and the store is away', async () => {
    await denied({ limits: [windowOf({ windowMs: HOUR_MS })] });
    rig.store.isAway = true;
    rig.clock.advance(249);
    expect(await rig.decide()).toMatchObject({ outcome: 'denied', source: 'store' });
    rig.clock.advance(1);
    expect(await rig.decide()).toMatchObject({ source: 'local' });
    expect(await rig.decide({ class: { slug: 'default', meter: 'requests', failMode: 'closed' } })).toMatchObject({ code: 'limiter_unavailable' });
  });

  // Mutation: leave one of these out of what is never answered from memory.
  it.each<[string, Partial<Call>, PolicyParts]>([
    ['a class that gives units back', { class: REFUNDING }, {}],
    ['a call that holds a slot', { holdsSlot: true }, {}],
    ['a call with an Idempotency-Key', { idempotencyKey: 'k' }, {}],
    ['a queue', {}, { limits: [limitOf({ algorithm: 'leaky-bucket', limit: 1, burst: null, windowMs: HOUR_MS, maxQueue: 9, maxWaitMs: 9 * HOUR_MS })] }],
    ['a proposed limit beside', {}, { limits: [windowOf(), windowOf({ name: 'proposed', mode: 'shadow' })] }],
  ])('is asked about each time for %s', async (_, parts, policy) => {
    rig.publish({ limits: [windowOf()], ...policy });
    expect(await outcomes(11, parts)).toContain('denied');
    rig.store.calls = 0;
    expect(await outcomes(5, parts)).toEqual(Array<string>(5).fill('denied'));
    expect(rig.store.calls).toBeGreaterThanOrEqual(5);
  });

  // Mutation: remember a denial of a limit with a penalty, or a ban for longer than it lasts.
  it('has each of its strikes counted, is answered from memory while it is banned, and is asked about again when the ban ends', async () => {
    const penalty = { strikes: 3, withinMs: MINUTE_MS, banMs: 1000, factor: 2, maxBanMs: MINUTE_MS, forgiveAfterMs: HOUR_MS };
    rig.publish({ limits: [windowOf({ windowMs: HOUR_MS, penalty })] });
    await outcomes(10);
    rig.store.calls = 0;
    const codes = [(await rig.decide()).code, (await rig.decide()).code, (await rig.decide()).code, (await rig.decide()).code];
    expect(codes).toEqual(['rate_limited', 'rate_limited', 'penalised', 'penalised']);
    expect(rig.store.calls).toBe(3);
    rig.clock.advance(900);
    expect((await rig.decide()).code).toBe('penalised');
    expect(rig.store.calls).toBe(4);
    rig.clock.advance(99);
    expect((await rig.decide()).code).toBe('penalised');
    expect(rig.store.calls).toBe(4);
    rig.clock.advance(1);
    expect([(await rig.decide()).code, (await rig.decide()).code, (await rig.decide()).code]).toEqual(['rate_limited', 'rate_limited', 'penalised']);
    expect(rig.store.calls).toBe(7);
  });

  // Mutation: leave a subject, the route or the tenant out of a call's shape.
  it('is this one and no other: other users, keys, addresses, routes and subjects are asked about', async () => {
    const scopes = ['user', 'key', 'ip', 'subject:account'] as const;
    const limits = [...scopes.map((scope) => windowOf({ name: scope.replace(':', '-'), scope, limit: 1, windowMs: HOUR_MS })), windowOf({ name: 'route', limit: 1, windowMs: HOUR_MS, perRoute: true })];
    rig.publish({ limits });
    const whole: Partial<Call> = { userId: 'u', keyId: 'k', address: '192.0.2.9', subjects: new Map([['subject:account', 'a']]), route: '/a' };
    const others: Partial<Call> = { userId: 'u2', keyId: 'k2', address: '192.0.2.8', subjects: new Map([['subject:account', 'a2']]), route: '/b' };
    expect(await outcomes(2, whole)).toEqual(['allowed', 'denied']);
    expect(await outcomes(2, others)).toEqual(['allowed', 'denied']);
    rig.store.calls = 0;
    for (const [name, value] of Object.entries(others)) await rig.decide({ ...whole, [name]: value });
    expect(rig.store.calls).toBe(5);
    await outcomes(3, whole);
    expect(rig.store.calls).toBe(5);
  });

  // Mutation: take a limit of 0 for one that waits for nothing, or a cost above the limit for one that no memory suits.
  it('is so under a limit of 0 and for a cost that no limit can hold', async () => {
    rig.publish({ limits: [limitOf({ limit: 0, burst: 0 })] });
    expect(await outcomes(20)).toEqual(Array<string>(20).fill('denied'));
    rig.publish({ limits: [windowOf()] });
    rig.announce();
    rig.store.calls = 0;
    for (let at = 0; at < 20; at += 1) expect(await rig.decide({ cost: 11 })).toMatchObject({ code: 'cost_exceeds_limit' });
    expect(rig.store.calls).toBe(2);
  });
});
