import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StatementsRig } from './statements/specs/statements-rig';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let rig: StatementsRig;
let folder: string;
beforeAll(async () => {
  rig = await StatementsRig.start();
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-verify-'));
  const call = { input: { verify: join(ROOT, 'apps/api/src/verify-statements.ts') }, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir: folder };
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const tier = await rig.tier('billed', 100);
  for (const slug of ['acme', 'globex']) await rig.tenant(slug, tier);
  await rig.use('acme', 120);
  await rig.worker().closing.run();
}, 120_000);
afterAll(async () => {
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const verify = (url: string, ...tenant: string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(folder, 'verify.mjs'), ...tenant], { env: { PATH: process.env['PATH'], DATABASE_URL: url } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }));
  });

// Mutation: end with 0 whatever is found.
it('ends with 0 for sound statements, with 1 and the place for a changed one, and with 2 where it cannot look', async () => {
  expect(await verify(rig.postgres.url)).toMatchObject({ code: 0, output: expect.stringMatching(/^Sound: 4 statements of 2 tenants/) });
  await rig.tamper(`UPDATE usage_journals SET refunded = refunded + 2 WHERE tenant = 'acme'`);
  expect(await verify(rig.postgres.url)).toMatchObject({
    code: 1, output: expect.stringMatching(/^acme statement 1 \(2026-08-01\) figures: requests: the journals say 2 less than the statement with its adjustments\nNOT SOUND: /),
  });
  expect(await verify(rig.postgres.url, 'globex')).toMatchObject({ code: 0 });
  expect(await verify('postgresql://nobody@127.0.0.1:1/none')).toMatchObject({ code: 2, output: expect.stringContaining('The verification failed') });
}, 120_000);
