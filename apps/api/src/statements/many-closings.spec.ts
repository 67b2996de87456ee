import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { figure } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contention, eventually } from '../outbox/worker-rig';
import { seedYear } from './specs/seeded-year';
import { StatementsRig } from './specs/statements-rig';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const TENANTS = figure(500, 10_000);
const CLOSE_LIMIT_MS = 60_000;
const MONTHS = ['2025-10', '2025-11', '2025-12', '2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06', '2026-07', '2026-08', '2026-09'].map((month) => `${month}-01`);
const LAST = MONTHS.at(-1) ?? '';

let rig: StatementsRig;
let folder: string;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  rig = await StatementsRig.start();
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-closing-'));
  const call = { input: { worker: join(ROOT, 'apps/api/src/worker.ts') }, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir: folder, withFailpoints: true };
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await seedYear(rig.prisma, TENANTS, await rig.tier('billed', 3_000), MONTHS);
}, 600_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const launch = (failpoint?: string) => {
  const env = { PATH: process.env['PATH'], DATABASE_URL: rig.postgres.url, REDIS_URL: rig.redisServer.url, ...(failpoint ? { QUOTAPLANE_FAILPOINT: failpoint } : {}) };
  const child = spawn(process.execPath, [join(folder, 'worker.mjs')], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  children.add(child);
  return { child, ended: once(child, 'close').then(() => children.delete(child)) };
};
const closed = (): Promise<number> => rig.prisma.statement.count({ where: { periodId: LAST } });

// Mutations: mark periods closed before their statements are written, or in another transaction; claim without a lock.
it('closes a month of many tenants once: by workers killed before and after a commit, and then by two at once', async () => {
  for (const [failpoint, least] of [['close.before-commit:3', 100], ['close.after-commit:2', 200]] as const) {
    await launch(failpoint).ended;
    expect(await closed()).toBeGreaterThanOrEqual(least);
    expect(await closed()).toBe(await rig.prisma.usagePeriod.count({ where: { periodId: LAST, closedAt: { not: null } } }));
  }
  const workers = [launch(), launch()];
  await eventually(async () => (await closed()) === TENANTS, 300_000);
  for (const { child } of workers) child.kill('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));
  expect(await rig.prisma.event.count({ where: { dedupeKey: { endsWith: `|${LAST}` } } })).toBe(TENANTS);
  const verification = await rig.verify();
  expect(verification.problems.filter(({ number }) => number !== 0)).toEqual([]);
}, 600_000);

// Last month's journals are all in one partition, and the closing of a batch reads them by tenant: the figure grows with the tenants and not with the year.
it(`closes a month of ${TENANTS} tenants with a year behind them within a minute for 10,000`, async () => {
  await rig.tamper(`DELETE FROM statements`);
  await rig.prisma.$executeRaw`DELETE FROM events`;
  await rig.prisma.$executeRaw`UPDATE usage_periods SET closed_at = NULL WHERE period_id = ${LAST}`;
  const slowdown = contention();
  const { closing, periods } = rig.worker();
  await periods.ready();
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  expect(await closing.run()).toBe(TENANTS);
  const tookMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  const verification = await rig.verify();
  console.log(`${TENANTS} periods closed by one worker in ${Math.round(tookMs)} ms with ${Math.round((cpu.user + cpu.system) / 1000)} ms of its CPU, verified in ${verification.tookMs} ms (machine ${slowdown.toFixed(1)} times slower than alone)`);
  expect(tookMs).toBeLessThan(Math.max(5_000, (CLOSE_LIMIT_MS * TENANTS) / 10_000) * slowdown);
}, 600_000);
