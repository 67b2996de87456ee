import { policySchema, redisKeys, subjectPolicySchema, type SubjectPolicy } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutboxRig } from './outbox-rig';
import { contention } from './worker-rig';

/** The full figure of the promise is 100,000; `QUOTAPLANE_SPEC_SUBJECTS` sets it. */
const SUBJECTS = Number(process.env['QUOTAPLANE_SPEC_SUBJECTS'] ?? 5_000);

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let tier: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  tier = await rig.tier('layered', {
    limits: [
      { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000, mode: 'enforce' },
      { name: 'per-user', algorithm: 'gcra', scope: 'user', limit: 10, windowMs: 1_000, mode: 'enforce' },
    ],
  });
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

async function override(tenantId: string, slug: string, user: string, limit: number, span: { readonly from?: Date; readonly until?: Date } = {}): Promise<{ id: string; changeId: string }> {
  const now = new Date();
  const { id } = await rig.prisma.override.create({
    data: {
      tenantId, subject: { scope: 'user', id: user }, subjectField: `user:${user}`, mode: 'exactly', set: { limits: { 'per-user': { limit } } },
      reason: 'spec', from: span.from ?? now, until: span.until ?? null, createdAt: now, createdBy: 'spec',
    },
  });
  return { id, changeId: await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug }]) };
}
const held = async (slug: string, user: string): Promise<SubjectPolicy | null> => {
  const text = await rig.redis.hget(redisKeys.subjects(slug), `user:${user}`);
  return text === null ? null : subjectPolicySchema.parse(JSON.parse(text));
};
const scopesOf = async (slug: string) => policySchema.parse(JSON.parse((await rig.redis.get(redisKeys.policy(slug))) ?? 'null')).subjectScopes;

// Mutation: leave `subjects` out of publishTenant, and the row in Postgres changes nothing for its user.
it('brings one user\'s numbers to Redis with their own timeline, and takes them away again', async () => {
  const tenantId = await rig.tenant('acme', tier);
  const until = new Date(Date.now() + 3_600_000);
  const { id } = await override(tenantId, 'acme', 'ann', 50, { until });
  await rig.relay().drain();
  const { segments } = (await held('acme', 'ann')) ?? { segments: [] };
  expect(segments.map(({ untilMs, limits }) => [untilMs, limits.map(({ name, limit, burst, sources }) => [name, limit, burst, sources.limit])]).slice(0, 1))
    .toEqual([[until.getTime(), [['per-user', 50, 50, `override:${id}`]]]]);
  expect([await scopesOf('acme'), await held('acme', 'bob')]).toEqual([['user'], null]);

  await rig.prisma.override.update({ where: { id }, data: { revertedAt: new Date() } });
  await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug: 'acme' }]);
  await rig.relay().drain();
  expect([await held('acme', 'ann'), await scopesOf('acme'), await rig.redis.exists(redisKeys.subjects('acme'))]).toEqual([null, undefined, 0]);
});

it('puts them back where Redis has lost its data, in the next generation', async () => {
  const tenantId = await rig.tenant('lost', tier);
  await override(tenantId, 'lost', 'ann', 50);
  await rig.relay().drain();
  await rig.redis.flushall();
  await rig.tenants.publish(['lost'], { onlyWhereLacking: true });
  expect(await rig.redis.get(redisKeys.head('lost'))).toBe('2.2');
  expect((await held('lost', 'ann'))?.segments[0]?.limits[0]?.limit).toBe(50);
});

it(`keeps a tenant with ${SUBJECTS} subjects workable: one more of them is live soon`, async () => {
  const tenantId = await rig.tenant('crowd', tier);
  await rig.prisma.$executeRaw`
    INSERT INTO overrides (id, tenant_id, subject, subject_field, mode, set, reason, from_at, created_at, created_by, updated_at)
    SELECT gen_random_uuid(), ${tenantId}::uuid, jsonb_build_object('scope', 'user', 'id', 'u' || n), 'user:u' || n, 'exactly',
      jsonb_build_object('limits', jsonb_build_object('per-user', jsonb_build_object('limit', n))), 'spec', now(), now(), 'spec', now()
    FROM generate_series(1, ${SUBJECTS}::int) n`;
  await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug: 'crowd' }]);
  const timed = async (work: Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work;
    return performance.now() - startedAt;
  };
  const firstMs = await timed(rig.relay().drain());
  expect((await held('crowd', `u${SUBJECTS}`))?.segments[0]?.limits[0]?.limit).toBe(SUBJECTS);
  const before = contention();
  await override(tenantId, 'crowd', 'one-more', 7);
  const nextMs = await timed(rig.relay().drain());
  const factor = Math.max(before, contention());
  expect((await held('crowd', 'one-more'))?.segments[0]?.limits[0]?.limit).toBe(7);
  console.info(`${SUBJECTS} subjects: first publish ${Math.round(firstMs)} ms, one more ${Math.round(nextMs)} ms, machine ${factor.toFixed(1)} times slower than alone`);
  expect(nextMs).toBeLessThan((1_000 + SUBJECTS * 0.03) * factor);
}, 120_000);
