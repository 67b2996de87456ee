import { createLimiter, type Limiter } from '@quotaplane/guard';
import { readQuotas } from '@quotaplane/rate-limit';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { periodAt, readJournals } from '@quotaplane/usage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { OutboxRig } from '../outbox/outbox-rig';
import { eventually } from '../outbox/worker-rig';
import { Seeder } from '../seed/seeder';

const CALLS = 100;
const EVERY_MS = 100;
const SLUG = 'synced';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
const nodes: Limiter[] = [];
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  await new Seeder(rig.prisma, new ChangesService(rig.prisma, rig.clock, null), rig.clock).run({ withDemo: false });
  await Promise.all([rig.catalogue.publishClasses(), rig.catalogue.publishFallback(), rig.catalogue.publishLists()]);
  await rig.tenant(SLUG, await rig.tier('synced', { limits: [] }));
  await rig.tenants.publish([SLUG]);
  const logger = { warn: () => undefined, error: () => undefined };
  while (nodes.length < 2) nodes.push(await createLimiter({ redisUrl: redisServer.url, service: 'spec', storeBudgetMs: 1_000, logger }));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

// Mutation: add at a flush what was already counted at the call, in the node, in the fold, or in the base.
it('C058 counts 100 calls in 10 s over two nodes once each: in the counter, the journals and the ledger', async () => {
  const fold = rig.fold();
  const startedAt = performance.now();
  for (let call = 0; call < CALLS; call += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + call * EVERY_MS - performance.now())));
    const { outcome, source } = (await nodes[call % 2]?.decide({ tenant: SLUG })) ?? {};
    expect([outcome, source]).toEqual(['allowed', 'store']);
    if (call % 10 === 9) await fold.run();
  }
  const { id: periodId } = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() });
  const used = async (): Promise<string | undefined> => (await rig.ledger.itemsOf([SLUG], 'current', await rig.ledger.asOf()))[0]?.used;
  await eventually(async () => {
    await fold.run();
    return (await used()) === String(CALLS);
  }, 10_000);
  // Two more flushes and folds, and still the same.
  await new Promise((resolve) => setTimeout(resolve, 2_200));
  await fold.run();
  expect(await used()).toBe(String(CALLS));
  expect(await readQuotas(rig.redis, [{ tenant: SLUG, meter: 'requests', periodId, part: 1, generation: 1 }])).toEqual([{ counter: BigInt(CALLS), plus: 0n, minus: 0n }]);
  const rows = await rig.prisma.usageJournal.findMany({ where: { tenant: SLUG } });
  expect(rows.map(({ admitted }) => admitted)).toEqual([50n, 50n]);
  expect((await readJournals(rig.redis)).flatMap((batch) => batch.rows).reduce((sum, row) => sum + row.admitted, 0n)).toBeLessThanOrEqual(BigInt(CALLS));
}, 60_000);
