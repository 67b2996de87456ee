import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FAILPOINTS } from './failpoints';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-failpoints-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Builds as a release is built, or with failpoints. @returns the folder of the bundle */
function build(name: string, input: Readonly<Record<string, string>>, withFailpoints?: boolean): string {
  const outDir = join(folder, name);
  const call = { input, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir, withFailpoints };
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  return outDir;
}

const entryPoints = (): Record<string, string> =>
  Object.fromEntries(['main', 'worker', 'seed'].map((entry) => [entry, join(ROOT, `apps/api/src/${entry}.ts`)]));

const codeOf = (outDir: string): string =>
  readdirSync(outDir).filter((name) => name.endsWith('.mjs')).map((name) => readFileSync(join(outDir, name), 'utf8')).join('\n');

// Mutation: `withFailpoints` of `bundle` defaults to true.
it('R5 leaves no failpoint in a release, and all of them in a build with failpoints', () => {
  const release = codeOf(build('release', entryPoints()));
  expect(release.length).toBeGreaterThan(100_000);
  expect(release.includes('QUOTAPLANE_FAILPOINT')).toBe(false);
  // Where several bundles share it, the empty function itself is left; nothing calls it.
  expect(release.match(/failpoint\((?!name\) \{\})/g)).toBe(null);
  const armed = codeOf(build('armed', entryPoints(), true));
  expect(armed.includes('process.env["QUOTAPLANE_FAILPOINT"]')).toBe(true);
  const used = new Set([...armed.matchAll(/failpoint\("([^"]+)"\)/g)].map(([, name]) => name));
  for (const name of used) expect(FAILPOINTS).toContain(name);
  expect(used).toContain('fold.before-commit');
}, 60_000);

// Mutation: the count of passings is compared with `>` instead of `!==`.
it('R5 dies of SIGKILL at the named step, at its n-th passing, and nowhere else', () => {
  const entry = join(folder, 'passings.ts');
  writeFileSync(entry, `
    import { failpoint } from ${JSON.stringify(join(ROOT, 'apps/api/src/config/failpoints'))};
    for (let passing = 1; passing <= 3; passing += 1) {
      failpoint('fold.after-commit');
      failpoint('fold.before-commit');
      process.stdout.write(String(passing));
    }`);
  const armed = join(build('passings', { passings: entry }, true), 'passings.mjs');
  const released = join(build('released', { passings: entry }), 'passings.mjs');
  const run = (file: string, wanted?: string) => {
    const { signal, status, stdout } = spawnSync(process.execPath, [file], { env: wanted === undefined ? {} : { QUOTAPLANE_FAILPOINT: wanted }, encoding: 'utf8' });
    return { signal, status, stdout };
  };
  expect(run(armed, 'fold.before-commit')).toEqual({ signal: 'SIGKILL', status: null, stdout: '' });
  expect(run(armed, 'fold.before-commit:3')).toEqual({ signal: 'SIGKILL', status: null, stdout: '12' });
  const alive = { signal: null, status: 0, stdout: '123' };
  expect(run(armed, 'fold.before-commit:4')).toEqual(alive);
  expect(run(armed, 'fold.before-ack')).toEqual(alive);
  expect(run(armed)).toEqual(alive);
  expect(run(released, 'fold.before-commit')).toEqual(alive);
}, 60_000);
