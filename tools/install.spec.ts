import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const TOOLS = fileURLToPath(new URL('.', import.meta.url));
let root: string;
beforeAll(() => {
  // A repository of its own, whose one package lies beside it: its install takes a second and no network.
  root = mkdtempSync(join(tmpdir(), 'quotaplane-install-'));
  cpSync(join(TOOLS, 'stores'), join(root, 'tools/stores'), { recursive: true });
  cpSync(join(TOOLS, 'install.mjs'), join(root, 'tools/install.mjs'));
  writeFileSync(join(root, 'tools/run.mjs'), "import { ensureInstalled } from './install.mjs';\nconsole.log(await ensureInstalled());\n");
  cpSync(join(root, 'tools/run.mjs'), join(root, 'near/index.mjs'));
  const dependencies = { near: 'file:near' };
  writeFileSync(join(root, 'near/package.json'), JSON.stringify({ name: 'near', version: '1.0.0' }));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'small', version: '1.0.0', dependencies }));
  const packages = { '': { name: 'small', version: '1.0.0', dependencies }, near: { version: '1.0.0' }, 'node_modules/near': { resolved: 'near', link: true } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ name: 'small', version: '1.0.0', lockfileVersion: 3, packages }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run = (env: NodeJS.ProcessEnv = {}) => spawnSync(process.execPath, [join(root, 'tools/run.mjs')], { encoding: 'utf8', env: { ...process.env, ...env } });

it('says that it installs and how long that takes, once', () => {
  expect(run().stdout).toMatch(/^Installing packages \(npm ci\); about a minute the first time \.*\n(.*\n)*true\n$/);
  expect(run().stdout).toBe('false\n');
});

it('says why npm failed, and nothing else when it is to be silent', () => {
  rmSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ name: 'small', version: '1.0.0', lockfileVersion: 3, packages: { '': {} } }));
  const { stdout, stderr, status } = run({ npm_config_loglevel: 'silent' });
  expect([stdout, status]).toEqual(['', 1]);
  expect(stderr).toContain('npm ci failed: code 1');
});
