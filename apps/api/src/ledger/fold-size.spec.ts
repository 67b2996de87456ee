import { randomUUID } from 'node:crypto';
import { redisKeys } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { journalField, periodAt } from '@quotaplane/usage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutboxRig } from '../outbox/outbox-rig';
import { contention } from '../outbox/worker-rig';

/** The full figure of the target is 10,000; `QUOTAPLANE_SPEC_TENANTS` sets it. */
const TENANTS = Number(process.env['QUOTAPLANE_SPEC_TENANTS'] ?? 1_000);
const ROUNDS = 5;

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

it(`folds ${TENANTS} touched tenants, half of them with degraded units, exactly and soon`, async () => {
  const tier = await rig.tier('touched', { quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'bill', alertAt: [80] }], degraded: 'bill' });
  await rig.prisma.$executeRaw`
    INSERT INTO tenants (id, slug, name, revision, updated_at) SELECT gen_random_uuid(), 'touched-' || n, 'touched', 1, now() FROM generate_series(1, ${TENANTS}::int) n`;
  await rig.prisma.$executeRaw`
    INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_at, created_by)
    SELECT gen_random_uuid(), id, ${tier}::uuid, now(), now(), 'spec' FROM tenants WHERE slug LIKE 'touched-%'`;
  await rig.prisma.$executeRaw`ANALYZE`;
  const { id: periodId } = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() });
  const incarnation = randomUUID();
  const fold = rig.fold();
  const tookMs: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const counts: Record<string, number> = {};
    for (let n = 1; n <= TENANTS; n += 1) {
      const cell = { tenant: `touched-${n}`, meter: 'requests', periodId, part: 1, class: 'default', generation: 1 };
      counts[journalField(cell, 'admitted')] = round * 10;
      if (n % 2 === 0) counts[journalField(cell, 'degraded')] = round;
    }
    await rig.redis.hset(redisKeys.journal(incarnation), { ...counts, '#seq': round, '#at': Date.now(), '#service': 'spec', '#dirty': JSON.stringify(Object.keys(counts)) });
    await rig.redis.sadd(redisKeys.journals, incarnation);
    const startedAt = performance.now();
    expect(await fold.run()).toBe(1);
    tookMs.push(Math.round(performance.now() - startedAt));
    // As the server does by itself within a minute.
    if (round === 1) await rig.prisma.$executeRaw`ANALYZE`;
  }
  console.info(`${TENANTS} touched tenants: folded in ${tookMs.join(', ')} ms, machine ${contention().toFixed(1)} times slower than alone`);
  const asOf = await rig.ledger.asOf();
  expect(await rig.ledger.itemsOf(['touched-1', 'touched-2'], 'current', asOf)).toMatchObject([{ used: String(ROUNDS * 10) }, { used: String(ROUNDS * 11) }]);
  const base = (tenant: string) => rig.redis.hgetall(`qp:{${tenant}}:b:requests:${periodId}:1:1`);
  expect(await Promise.all([base('touched-1'), base('touched-2'), base(`touched-${TENANTS}`)])).toEqual([{}, { plus: String(ROUNDS), minus: '0' }, { plus: String(ROUNDS), minus: '0' }]);
}, 120_000);
