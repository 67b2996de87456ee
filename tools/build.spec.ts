import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fingerprint } from './build-inputs.mjs';
import { bundle } from './build.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
let folder: string;

beforeEach(() => {
  // Inside the repository, because the bundle's imports are resolved from where it lies.
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  folder = mkdtempSync(join(ROOT, 'dist/build-spec-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('bundles Nest injection by type, with names kept and workspace libraries inlined', async () => {
  writeFileSync(
    join(folder, 'greeter.ts'),
    "import { Injectable } from '@nestjs/common';\n@Injectable()\nexport class Greeter {\n  greet() {\n    return 'hello';\n  }\n}\n",
  );
  writeFileSync(
    join(folder, 'main.ts'),
    `import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as contracts from '@quotaplane/contracts';
import { Greeter } from './greeter';
@Injectable()
class Room { constructor(readonly greeter: Greeter) {} }
@Module({ providers: [Greeter, Room] })
class House {}
const app = await NestFactory.createApplicationContext(House, { logger: false });
console.log(app.get(Room).greeter.greet(), Room.name, typeof contracts);
await app.close();
`,
  );
  await bundle({ input: { main: join(folder, 'main.ts') }, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir: join(folder, 'out') });
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'out/main.mjs')], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe('hello Room object');
});

it('takes another fingerprint when a file changes or is renamed, and none for a spec', () => {
  const path = folder.slice(ROOT.length);
  writeFileSync(join(folder, 'a.ts'), 'one');
  const first = fingerprint([path]);
  writeFileSync(join(folder, 'a.spec.ts'), 'a spec');
  expect(fingerprint([path])).toBe(first);
  writeFileSync(join(folder, 'a.ts'), 'two');
  expect(fingerprint([path])).not.toBe(first);
  writeFileSync(join(folder, 'a.ts'), 'one');
  expect(fingerprint([path])).toBe(first);
});

it('follows links to files and folders, stops at a circle and ignores what npm links', () => {
  mkdirSync(join(folder, 'src'));
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(folder, 'elsewhere/b.ts'), 'one');
  symlinkSync('../elsewhere', join(folder, 'src/linked'));
  symlinkSync('..', join(folder, 'src/circle'));
  symlinkSync('../elsewhere', join(folder, 'src/node_modules'));
  symlinkSync('nowhere', join(folder, 'src/broken'));
  const path = join(folder.slice(ROOT.length), 'src');
  const first = fingerprint([path]);
  writeFileSync(join(folder, 'elsewhere/b.ts'), 'two');
  expect(fingerprint([path])).not.toBe(first);
});
