import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Readable } from 'node:stream';
import { figure } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SYSTEM_CALLER } from '../http/caller';
import { exportBody, UsageService } from '../usage/usage.service';
import { StatementExport, statementBody } from './statement-export';
import { AUGUST, StatementsRig } from './specs/statements-rig';

const ROWS = figure(20_000, 200_000);
const METERS = 20;
const ROWS_PER_LOOK = 2_000;
const HEAP_GROWTH_MAX = 24 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let rig: StatementsRig;
beforeAll(async () => {
  rig = await StatementsRig.start();
  const tierId = await rig.tier('wide', 100);
  const created = new Date(AUGUST.startMs);
  await rig.prisma.$executeRaw`
    INSERT INTO tenants (id, slug, name, created_at, updated_at) SELECT gen_random_uuid(), 'm-' || lpad(n::text, 5, '0'), 'm', ${created}, now() FROM generate_series(1, ${ROWS / METERS}::int) n`;
  await rig.prisma.$executeRaw`
    INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_at, created_by) SELECT gen_random_uuid(), id, ${tierId}::uuid, ${created}, ${created}, 'spec' FROM tenants`;
  await rig.prisma.$executeRaw`
    INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone) SELECT slug, ${AUGUST.id}, ${created}, ${new Date(AUGUST.endMs)}, 'UTC' FROM tenants`;
  // The tier's one meter and as many others as make the rows.
  await rig.prisma.$executeRaw`
    INSERT INTO usage_journals (incarnation, tenant, meter, period_id, part, class, generation, admitted)
    SELECT 'node', slug, CASE m WHEN 1 THEN 'requests' ELSE 'meter-' || m END, ${AUGUST.id}, 1, 'default', 1, 1000 + m FROM tenants CROSS JOIN generate_series(1, ${METERS}::int) m`;
  await rig.prisma.$executeRaw`ANALYZE`;
  await rig.worker().closing.run();
}, 600_000);
afterAll(async () => {
  await rig?.stop();
});

/** Takes an export as a slow reader does, and looks at the heap every few thousand rows. */
async function taken(body: Readable): Promise<{ readonly rows: number; readonly grownBytes: number }> {
  let [rows, next, first, most] = [0, ROWS_PER_LOOK, 0, 0];
  for await (const chunk of body) {
    rows += String(chunk).split('\n').length - 1;
    if (rows < next) continue;
    next += ROWS_PER_LOOK;
    collect();
    const { heapUsed } = process.memoryUsage();
    first ||= heapUsed;
    most = Math.max(most, heapUsed);
  }
  return { rows, grownBytes: most - first };
}

const statements = (format: 'csv' | 'ndjson') => async () =>
  statementBody(await new StatementExport(rig.prisma, rig.clock).stream(SYSTEM_CALLER, { period: '2026-08', format }), format);
const usage = (format: 'csv' | 'ndjson') => async () => exportBody(await new UsageService(rig.prisma, rig.ledger).stream(SYSTEM_CALLER, { period: '2026-08', format }), format);

// Mutation: collect the rows before they are written.
it.each([
  ['statements as CSV', statements('csv'), ROWS + 1],
  ['statements as NDJSON', statements('ndjson'), ROWS],
  ['usage as CSV', usage('csv'), ROWS + 1],
  ['usage as NDJSON', usage('ndjson'), ROWS],
])('streams %s with a heap that does not grow with the rows', async (name, open, expected) => {
  const startedAt = performance.now();
  const { rows, grownBytes } = await taken(await open());
  console.log(`${name}: ${rows} rows in ${Math.round(performance.now() - startedAt)} ms, heap grew by at most ${(grownBytes / 1_048_576).toFixed(1)} MiB`);
  expect(rows).toBe(expected);
  expect(grownBytes).toBeLessThan(HEAP_GROWTH_MAX);
}, 600_000);
