import { ALGORITHMS, redisKeys, subjectField, type SubjectPolicy } from '@quotaplane/contracts';
import { GUARD_ACL_USER, guardAclRules, PolicyPublisher } from '@quotaplane/policy';
import { ready, TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { readJournals, readOffenders } from '@quotaplane/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../key-format';
import { startGuardedApp } from './guarded-app';
import { catalogueOf, limitOf, policyOf } from './policies';

const HOUR_MS = 3_600_000;
const user = { username: GUARD_ACL_USER, password: 'a-password' };
const KEY = { 'X-Api-Key': 'demo-acme' };
const penalty = { strikes: 1, withinMs: HOUR_MS, banMs: HOUR_MS, factor: 2, maxBanMs: HOUR_MS, forgiveAfterMs: HOUR_MS };

let store: TestStore;
let admin: TestClient;

describe.each(TEST_STORES)('a guard that connects as its own user to $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    await store.everywhere('ACL', 'SETUSER', user.username, ...guardAclRules(user.password));
    admin = await ready(store.connect());
  }, 30_000);
  afterAll(async () => {
    admin.disconnect();
    await store.stop();
  });

  // Mutation: take any command or key of guard-acl.json away.
  it('does all of its work, and tries nothing that it may not', async () => {
    const publisher = new PolicyPublisher({ redis: admin });
    const catalogue = catalogueOf();
    await publisher.publishClasses({
      ...catalogue,
      classes: { ...catalogue.classes, default: { cost: 1, meter: 'requests', failMode: 'closed', refundOn: ['5xx'], retry: { cost: 0, windowMs: 60_000, max: 2 } } },
    });
    await publisher.publishLists({ v: 1, revision: 1, entries: [] });
    await publisher.publishKey(hashSecret('demo-acme'), { tenant: 'acme', keyId: 'k1', userId: null, kind: 'customer' });
    const limits = ALGORITHMS.map((algorithm) => limitOf({
      name: algorithm, algorithm, limit: 20, burst: ['token-bucket', 'gcra'].includes(algorithm) ? 20 : null, windowMs: HOUR_MS,
      ...(algorithm === 'leaky-bucket' ? { maxQueue: 19, maxWaitMs: 0, scope: 'user' as const, mode: 'shadow' as const } : {}),
    }));
    const perKey = limitOf({ name: 'per-key', scope: 'key', limit: 1, burst: 1, windowMs: HOUR_MS, penalty });
    const policy = policyOf({
      tenant: 'acme', limits: [...limits, perKey], concurrency: 5, subjectScopes: ['key'], quotas: [{ meter: 'requests', allowance: 1000, overage: 'reject' }],
    });
    const raised: SubjectPolicy = {
      v: 1,
      segments: policy.segments.map(({ fromMs, untilMs }) => ({ fromMs, untilMs, limits: [{ name: 'per-key', limit: 10, burst: 10, sources: { limit: 'override:o', burst: 'override:o' } }] })),
    };
    await publisher.publishTenant({ policy, generation: 1, subjects: new Map([[subjectField('key', 'k1'), raised]]), changeId: 'c' });

    const app = await startGuardedApp('fastify', { redisUrl: store.url(user), service: 'probe', storeBudgetMs: 1000 });
    const statuses: number[] = [];
    for (let call = 0; call < 13; call += 1) statuses.push((await app.get('/echo', KEY)).status);
    // The override of the single key is read with the stale answer: 10 instead of 1.
    expect(statuses).toEqual([...Array<number>(10).fill(200), ...Array<number>(3).fill(429)]);
    expect((await app.get('/fail', KEY)).status).toBe(429);
    const post = { method: 'POST', body: '{}' };
    for (let repeat = 0; repeat < 2; repeat += 1) await app.get('/echo', { ...KEY, 'Idempotency-Key': 'same', 'Content-Type': 'application/json' }, post);
    // No worker runs here that would answer for a key that the store lacks: the guard has asked for it, and the class fails closed.
    expect((await app.get('/echo', { 'X-Api-Key': 'demo-nobody' })).status).toBe(503);
    await expect.poll(() => admin.sismember(redisKeys.wanted, `key:${hashSecret('demo-nobody')}`)).toBe(1);
    await app.get('/missing');
    await app.close();

    const rows = (await readJournals(admin)).flatMap((batch) => batch.rows);
    expect(rows.reduce((sum, row) => sum + row.admitted, 0n)).toBe(10n);
    expect((await readOffenders(admin, { minutes: 2, nowMs: Date.now(), limit: 10 })).rows[0]).toMatchObject({ tenant: 'acme', scope: 'key', subject: 'k1' });
    expect(await admin.hlen(redisKeys.penalties)).toBe(1);
    expect(await refusals()).toEqual([]);
  }, 30_000);
});

/** What Redis has refused to the guards' user so far. ioredis may not tell its version (CLIENT SETINFO, which Redis 7.0 does not know) and does without. */
async function refusals(): Promise<string[]> {
  const logs = (await store.everywhere('ACL', 'LOG')) as unknown[][][];
  const entries = logs.flat().map((flat) => Object.fromEntries(flat.flatMap((value, index) => (index % 2 === 0 ? [[String(value), String(flat[index + 1])]] : []))) as Record<string, string>);
  return entries.filter((entry) => entry['username'] === GUARD_ACL_USER && entry['object'] !== 'client|setinfo').map((entry) => `${entry['reason']} ${entry['context']} ${entry['object']}: ${entry['client-info']?.replace(/.* cmd=/, 'cmd=').slice(0, 40)}`);
}
