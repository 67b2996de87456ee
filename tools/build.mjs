#!/usr/bin/env node
/**
 * Builds what `npm start` runs: `dist/apps/api/{main,worker,seed,verify-statements}.mjs`, `dist/apps/echo/main.mjs` and `dist/apps/console`.
 *
 * Workspace libraries are inlined, packages from npm stay imports. An app whose inputs did not change is
 * skipped, so a warm start costs the hashing only. Usage: `node tools/build.mjs [--no-console] [--force]`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from './stores/file-lock.mjs';
import { ROOT, fingerprint, isFresh, stamp } from './build-inputs.mjs';

const NODE_APPS = { api: ['main', 'worker', 'seed', 'verify-statements'], echo: ['main'] };
const TOOLING = ['tools/build.mjs', 'tools/build-inputs.mjs', 'tsconfig.base.json', 'package-lock.json'];

/**
 * Builds every app that is out of date.
 * @param options.console build the console too (default true)
 * @param options.force build also what is up to date
 * @returns one `{ name, status: 'built' | 'fresh' | 'absent', tookMs }` per app; throws what the bundler throws
 */
export async function buildAll({ console: withConsole = true, force = false } = {}) {
  const builds = Object.entries(NODE_APPS).map(([name, entries]) => buildNodeApp(name, entries, force));
  if (withConsole) builds.push(buildConsole(force));
  return Promise.all(builds);
}

async function buildNodeApp(name, entryNames, force) {
  const source = `apps/${name}/src`;
  const entries = entryNames.filter((entry) => existsSync(join(ROOT, source, `${entry}.ts`)));
  if (entries.length === 0) return { name, status: 'absent', tookMs: 0 };
  const inputs = [source, `apps/${name}/package.json`, `apps/${name}/tsconfig.json`, 'libs', ...TOOLING];
  return whenStale(name, inputs, force, (outDir) =>
    bundle({
      input: Object.fromEntries(entries.map((entry) => [entry, join(ROOT, source, `${entry}.ts`)])),
      tsconfig: join(ROOT, `apps/${name}/tsconfig.json`),
      outDir,
    }),
  );
}

async function buildConsole(force) {
  const name = 'console';
  if (!existsSync(join(ROOT, 'apps/console/index.html'))) return { name, status: 'absent', tookMs: 0 };
  const inputs = ['apps/console', 'libs/contracts', ...TOOLING];
  return whenStale(name, inputs, force, (outDir) =>
    // A process of its own: vite sets NODE_ENV, which must not leak into the servers started from here.
    run(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'], join(ROOT, 'apps/console')),
  );
}

async function whenStale(name, inputs, force, build) {
  const startedAt = performance.now();
  const print = fingerprint(inputs);
  let status = 'fresh';
  if (force || !isFresh(name, print)) {
    mkdirSync(join(ROOT, 'dist/apps'), { recursive: true });
    // Two processes that start at once build once: the second finds the output fresh when its turn comes.
    await withFileLock(join(ROOT, `dist/apps/.${name}.lock`), async () => {
      if (!force && isFresh(name, print)) return;
      await buildBeside(name, build);
      stamp(name, print);
      status = 'built';
    });
  }
  return { name, status, tookMs: Math.round(performance.now() - startedAt) };
}

/** Builds into a folder beside the old output and swaps, so that a failed build leaves the last good one. */
async function buildBeside(name, build) {
  const target = join(ROOT, 'dist/apps', name);
  const staging = join(ROOT, 'dist/apps', `.${name}-${process.pid}`);
  mkdirSync(staging, { recursive: true });
  try {
    await build(staging);
    rmSync(target, { recursive: true, force: true });
    renameSync(staging, target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * One ESM bundle for Node: decorators with metadata, workspace code inlined, npm packages left as imports.
 * @param options.withFailpoints keep the places where `QUOTAPLANE_FAILPOINT` kills the process; for tests alone, a release has none
 */
export async function bundle({ input, tsconfig, outDir, withFailpoints = false }) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input,
    tsconfig,
    platform: 'node',
    external: isNpmPackage,
    // Decorators and their metadata come from the tsconfig named above.
    transform: { target: 'node20', define: { QUOTAPLANE_WITH_FAILPOINTS: String(withFailpoints) } },
  });
  try {
    await build.write({
      dir: outDir,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
      sourcemap: true,
      // Nest and the error filter read class names; a collision between two files must not rename them.
      keepNames: true,
    });
  } finally {
    await build.close();
  }
}

/** The decorator helpers of `@oxc-project/runtime` are not installed: the bundler carries them and inlines them. */
function isNpmPackage(id) {
  const isPath = /^[./]|^[A-Za-z]:[\\/]|^\0/.test(id);
  return !isPath && !id.startsWith('@quotaplane/') && !id.startsWith('@oxc-project/runtime');
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${args[0]} ended with code ${code}`))));
  });
}

async function main(flags) {
  try {
    const builds = await buildAll({ console: !flags.has('--no-console'), force: flags.has('--force') });
    for (const { name, status, tookMs } of builds) console.log(`${name}: ${status} (${tookMs} ms)`);
  } catch (error) {
    console.error(`Build failed: ${error.message}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(new Set(process.argv.slice(2)));
