import { subjectField, type CompiledLimit, type SubjectPolicy } from '@quotaplane/contracts';
import { readJournals } from '@quotaplane/usage';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineRig } from './engine-app';
import { ADAPTERS } from './guarded-app';
import { limitOf, policyOf } from './policies';

const HOUR_MS = 3_600_000;
const hourly = (limit: number, parts: Partial<CompiledLimit> = {}): CompiledLimit =>
  limitOf({ algorithm: 'fixed-window', limit, burst: null, windowMs: HOUR_MS, ...parts });

describe.each(ADAPTERS)('callers behind %s', (adapter) => {
  const registry = new Registry();
  let rig: EngineRig;

  beforeAll(async () => {
    rig = await EngineRig.start(adapter, { registry });
  });
  afterAll(() => rig.stop());

  describe('on a list', () => {
    it('are blocked with every field, without a wait, and without using anything', async () => {
      const key = await rig.tenant('denied', { limits: [hourly(1000)] });
      let used = 0;
      const call = async (): Promise<Response> => {
        const answer = await rig.get('/plain', key);
        if (answer.status === 200) used += 1;
        return answer;
      };
      await rig.lists([{ list: 'deny', scope: 'key', subject: 'key-denied' }, { list: 'allow', scope: 'user', subject: 'ann' }]);
      await expect.poll(async () => (await call()).status, { timeout: 3000, interval: 50 }).toBe(403);
      const answer = await call();
      expect(await answer.json()).toMatchObject({ code: 'blocked', status: 403 });
      expect(answer.headers.get('retry-after')).toBeNull();
      expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=1000;w=3600');
      expect(answer.headers.get('ratelimit')).toContain('"per-minute";r=0;');
      // The most severe entry decides.
      expect(await rig.status('/plain', { ...key, 'X-User-Id': 'ann' })).toBe(403);
      await rig.lists([]);
      await expect.poll(async () => {
        const left = (await call()).headers.get('ratelimit-remaining');
        return left === '0' ? undefined : left === String(1000 - used);
      }, { timeout: 3000, interval: 50 }).toBe(true);
    });

    it('are told the policy also where this node had never seen it', async () => {
      const key = await rig.tenant('unseen', { limits: [hourly(7)] });
      await rig.lists([{ list: 'deny', scope: 'tenant', tenant: 'unseen' }]);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const answer = await rig.get('/plain', key);
      expect([answer.status, answer.headers.get('ratelimit-policy'), answer.headers.get('ratelimit-source')]).toEqual([403, '"per-minute";q=7;w=3600', null]);
    });

    // Mutation: leave the quota's generation out of a refusal.
    it('are told of the same counters as before they were refused', async () => {
      const key = await rig.tenant('still', { limits: [hourly(1000)], quotas: [{ meter: 'requests', allowance: 1000, overage: 'reject' }] });
      const partitions = async (status: number): Promise<readonly string[]> => {
        await expect.poll(() => rig.status('/plain', key), { timeout: 3000, interval: 50 }).toBe(status);
        return [...((await rig.get('/plain', key)).headers.get('ratelimit') ?? '').matchAll(/pk=:[^:]+:/g)].map(([partition]) => partition);
      };
      const before = await partitions(200);
      await rig.lists([{ list: 'deny', scope: 'tenant', tenant: 'still' }]);
      expect(before.length).toBe(2);
      expect(await partitions(403)).toEqual(before);
      await rig.lists([]);
    });

    it('wait until a penalty set by hand ends', async () => {
      const key = await rig.tenant('punished', { limits: [hourly(1000)] });
      const untilMs = Date.now() + 5000;
      await rig.lists([{ list: 'penalty', scope: 'tenant', tenant: 'punished', untilMs }]);
      await expect.poll(() => rig.status('/plain', key), { timeout: 3000, interval: 50 }).toBe(429);
      const answer = await rig.get('/plain', key);
      const body = (await answer.json()) as { retryAfter: number };
      // Nobody has counted its calls: an operator set it.
      expect(body).toMatchObject({ code: 'penalised', type: expect.stringContaining('abnormal-usage-detected'), detail: expect.stringMatching(/^this caller is held back/) });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('retry-after')).toBe(String(body.retryAfter));
      await new Promise((resolve) => setTimeout(resolve, body.retryAfter * 1000));
      expect(await rig.status('/plain', key)).toBe(200);
    });

    it('pass without a limit where they are allowed; what they use is counted, and the fields say no figures', async () => {
      const parts = { limits: [hourly(1), limitOf({ name: 'burst', limit: 1, burst: 1 })], quotas: [{ meter: 'requests', allowance: 2, overage: 'reject' as const }], concurrency: 0 };
      const key = await rig.tenant('allowed', parts);
      await rig.lists([{ list: 'allow', scope: 'ip', subject: '127.0.0.0/8' }]);
      await expect.poll(async () => (await rig.get('/codes/1', key)).headers.has('ratelimit'), { timeout: 3000, interval: 50 }).toBe(false);
      await rig.tenant('counted', parts);
      const counted = { 'X-Api-Key': 'demo-counted' };
      for (let call = 0; call < 6; call += 1) expect(await rig.status('/plain', counted)).toBe(200);
      const answer = await rig.get('/plain', counted);
      expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=1;w=3600, "burst";q=1;w=60, "month";q=2;w=2592000');
      expect([...answer.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual(['ratelimit-policy']);
      await expect.poll(async () => {
        const rows = (await readJournals(rig.client)).flatMap((batch) => batch.rows).filter(({ tenant }) => tenant === 'counted');
        return rows.reduce((sum, row) => sum + row.admitted, 0n);
      }, { timeout: 5000 }).toBe(7n);
      await rig.lists([]);
      // The allowance of 2 is spent: seven were counted.
      await expect.poll(() => rig.status('/plain', counted), { timeout: 3000, interval: 50 }).toBe(429);
    });
  });

  describe('that keep calling past a limit', () => {
    it('are banned for longer each time, told so honestly, and listed for the operators', async () => {
      const penalty = { strikes: 3, withinMs: 60_000, banMs: 1000, factor: 2, maxBanMs: 60_000, forgiveAfterMs: 60_000 };
      const key = await rig.tenant('striker', { limits: [limitOf({ name: 'per-100-ms', scope: 'user', limit: 1, burst: 1, windowMs: 100, penalty })] });
      const caller = { ...key, 'X-User-Id': 'ann' };
      const bannedFor = async (): Promise<number> => {
        for (let call = 0; call < 200; call += 1) {
          const answer = await rig.get('/plain', caller);
          const body = (await answer.json()) as { code?: string; retryAfter?: number; detail?: string };
          if (body.code !== 'penalised') continue;
          expect(answer.status).toBe(429);
          expect(answer.headers.get('retry-after')).toBe(String(body.retryAfter));
          expect(body.detail).toMatch(/^per-100-ms: too many calls/);
          return body.retryAfter ?? 0;
        }
        return 0;
      };
      const entry = async (): Promise<unknown> => JSON.parse((await rig.client.hget('qp:penalties', JSON.stringify(['striker', 'per-100-ms', 'user', 'ann']))) ?? 'null');
      expect(await bannedFor()).toBe(1);
      await expect.poll(entry, { timeout: 3000 }).toMatchObject({ level: 1, counter: expect.stringContaining(':p:per-100-ms:') });
      // Others of the tenant are not.
      expect(await rig.status('/plain', { ...key, 'X-User-Id': 'bob' })).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(await rig.status('/plain', caller)).toBe(200);
      expect(await bannedFor()).toBe(2);
      await expect.poll(entry, { timeout: 3000 }).toMatchObject({ level: 2 });
      const { startedMs, untilMs } = (await entry()) as { startedMs: number; untilMs: number };
      expect(untilMs - startedMs).toBe(2000);
      const bans = (await registry.getSingleMetric('quotaplane_bans_total')?.get())?.values;
      expect(bans).toMatchObject([{ labels: { limit: 'per-100-ms', scope: 'user', class: 'default' }, value: 2 }]);
    });
  });

  describe('with limits of their own', () => {
    const ownOf = (limits: SubjectPolicy['segments'][number]['limits'], fromMs = 0, untilMs = Date.now() + 20 * 24 * HOUR_MS): SubjectPolicy => ({
      v: 1,
      segments: [{ fromMs: 0, untilMs: fromMs, limits: [] }, { fromMs, untilMs, limits }, { fromMs: untilMs, untilMs: Number.MAX_SAFE_INTEGER, limits: [] }].filter((one) => one.fromMs < one.untilMs),
    });
    const withSubjects = async (tenant: string, revision: number, limits: readonly CompiledLimit[], subjects: Record<string, SubjectPolicy>): Promise<Record<string, string>> => {
      const key = await rig.tenant(tenant, { revision, limits, subjectScopes: ['key', 'user'] });
      await rig.publisher.publishTenant({
        policy: policyOf({ tenant, revision: revision + 1, limits, subjectScopes: ['key', 'user'] }), generation: 1, changeId: 'subjects', subjects: new Map(Object.entries(subjects)),
      });
      return key;
    };
    const sources = { limit: 'override:1', burst: 'override:1' };

    // Mutation: the subject's numbers are not asked for, or the tenant's win.
    it('C068 let one user pass 20 times a minute under a plan of 2', async () => {
      const plan = [limitOf({ scope: 'user', limit: 2, burst: 2 })];
      const key = await withSubjects('c068', 1, plan, { [subjectField('user', 'ann')]: ownOf([{ name: 'per-minute', limit: 20, burst: 20, sources }]) });
      const statuses = async (user: string): Promise<number> => {
        const answers = await Promise.all(Array.from({ length: 25 }, () => rig.status('/plain', { ...key, 'X-User-Id': user })));
        return answers.filter((status) => status === 200).length;
      };
      // The first caller brings the policy; the second one's overrides have to be asked for under a head that is known by then.
      expect(await statuses('bob')).toBe(2);
      expect(await statuses('ann')).toBe(20);
      const answer = await rig.get('/plain', { ...key, 'X-User-Id': 'ann' });
      expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=20;w=60');
      expect((await rig.get('/plain', { ...key, 'X-User-Id': 'bob' })).headers.get('ratelimit-policy')).toBe('"per-minute";q=2;w=60');
    });

    it('keep their count when an override is changed, and follow it on the very next call', async () => {
      const plan = [hourly(2, { scope: 'user' })];
      const ann = subjectField('user', 'ann');
      const key = await withSubjects('change', 1, plan, { [ann]: ownOf([{ name: 'per-minute', limit: 5, burst: null, sources }]) });
      const caller = { ...key, 'X-User-Id': 'ann' };
      expect((await rig.get('/plain', caller)).headers.get('ratelimit-remaining')).toBe('4');
      await withSubjects('change', 3, plan, { [ann]: ownOf([{ name: 'per-minute', limit: 9, burst: null, sources }]) });
      expect((await rig.get('/plain', caller)).headers.get('ratelimit-remaining')).toBe('7');
    });

    it('begin and end at their own instants by the store\'s clock', async () => {
      const plan = [hourly(2, { scope: 'user' })];
      const [fromMs, untilMs] = [Date.now() + 1000, Date.now() + 2000];
      const key = await withSubjects('timed', 1, plan, { [subjectField('user', 'ann')]: ownOf([{ name: 'per-minute', limit: 50, burst: null, sources }], fromMs, untilMs) });
      const limit = async (): Promise<string | null> => (await rig.get('/plain', { ...key, 'X-User-Id': 'ann' })).headers.get('ratelimit-limit');
      expect(await limit()).toBe('2');
      await expect.poll(limit, { timeout: 3000, interval: 20 }).toBe('50');
      await expect.poll(limit, { timeout: 3000, interval: 20 }).toBe('2');
      expect(Date.now()).toBeGreaterThanOrEqual(untilMs);
    });
  });
});
