#!/usr/bin/env node
/**
 * Builds the published package: `dist/guard` with ESM and CommonJS bundles of its entries, declaration files for each, package.json, README and licence.
 * `@quotaplane/guard` is for Nest, `limiter` works without it, `client` runs in browsers and so may import nothing.
 *
 * The inner libraries are inlined, code and types; packages from npm stay dependencies, Nest stays a peer. Usage: `node tools/build-guard.mjs [--pack]`;
 * `--pack` also runs `npm pack` and prints the path of the tarball last.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { ROOT } from './build-inputs.mjs';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'libs/guard');
const INNER = ['@quotaplane/contracts', '@quotaplane/policy', '@quotaplane/rate-limit', '@quotaplane/usage'];
/** npm packages that the bundles still import; everything else must be inlined or a peer. */
const DEPENDENCIES = ['ioredis', 'ipaddr.js', 'prom-client', 'structured-headers', 'zod'];
const PEERS = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];
/** By name: the source of each entry and what its bundles and its types may import, besides Node's own modules. */
const ENTRIES = {
  index: { source: 'src/index.ts', imports: [...DEPENDENCIES, ...PEERS], types: [...PEERS, 'prom-client'] },
  limiter: { source: 'src/limiter.entry.ts', imports: DEPENDENCIES, types: ['prom-client'] },
  client: { source: 'src/client/index.ts', imports: [], types: [], isForBrowsers: true },
};
/** Bundled together: what two entries have in common is one file, so that a class is the same whichever it was imported from. */
const BUNDLES = [['index', 'limiter'], ['client']];

/**
 * @param say is told each step; the declarations take about half a minute of processor time
 * @returns the folder of the built package
 */
export async function buildGuard(outDir = join(ROOT, 'dist/guard'), say = () => undefined) {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  say('Making the type declarations (about 15 s; longer on a busy machine) and the bundles for ESM and CommonJS ...');
  const timed = (name, work) => {
    const startedAt = performance.now();
    return work.then(() => say(`  ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`));
  };
  await Promise.all([
    ...BUNDLES.map((entries) => timed(`bundles of ${entries.join(' and ')}`, Promise.all([bundle(outDir, 'esm', 'mjs', entries), bundle(outDir, 'cjs', 'cjs', entries)]))),
    ...Object.keys(ENTRIES).map((entry) => timed(`type declarations of ${entry}`, declare(outDir, entry))),
  ]);
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(SOURCE, 'README.md'), join(outDir, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(outDir, 'LICENSE'));
  return outDir;
}

/** @returns the path of the tarball, in the built folder's parent */
export async function packGuard(outDir) {
  const target = join(outDir, '..');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', target], { cwd: outDir });
  const [packed] = JSON.parse(stdout);
  return join(target, packed.filename);
}

async function bundle(outDir, format, extension, entries) {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(SOURCE, ENTRIES[entry].source)])),
    tsconfig: join(SOURCE, 'tsconfig.json'),
    platform: entries.some((entry) => ENTRIES[entry].isForBrowsers) ? 'browser' : 'node',
    external: [...DEPENDENCIES, ...PEERS, /^node:/],
    // Rooms that the guard does not use (periods, settlement) bring packages along that it must not depend on.
    treeshake: { moduleSideEffects: false },
    transform: { target: 'node20' },
  });
  try {
    const names = { entryFileNames: `[name].${extension}`, chunkFileNames: `chunk-[name].${extension}` };
    const { output } = await build.write({ dir: outDir, ...names, format, sourcemap: true, keepNames: true, exports: 'named' });
    for (const entry of entries) expectKnownImports(output, `${entry}.${extension}`, ENTRIES[entry]);
  } finally {
    await build.close();
  }
}

/** An entry with all it brings along must import nothing but what its users have. */
function expectKnownImports(output, fileName, { imports, isForBrowsers }) {
  const chunks = new Map(output.map((file) => [file.fileName, file]));
  const reached = new Set([fileName]);
  for (const file of reached) {
    for (const id of chunks.get(file).imports) {
      if (chunks.has(id)) reached.add(id);
      else if (!imports.includes(id) && !(id.startsWith('node:') && !isForBrowsers)) throw new Error(`${fileName} imports ${id}, which its users may not have`);
    }
  }
}

/** One declaration file an entry with the inner libraries' types inlined, for both formats. */
async function declare(outDir, entry) {
  const generator = join(ROOT, 'node_modules/dts-bundle-generator/dist/bin/dts-bundle-generator.js');
  const target = join(outDir, `${entry}.d.mts`);
  const { source, types } = ENTRIES[entry];
  const args = ['-o', target, '--project', join(SOURCE, 'tsconfig.types.json'), '--external-inlines', ...INNER, '--no-banner', '--export-referenced-types', 'false', '--no-check', '--silent'];
  const memo = new URL('dts-usage-memo.mjs', import.meta.url).href;
  await run(process.execPath, ['--import', memo, generator, ...args, '--', join(SOURCE, source)], { cwd: ROOT });
  const text = readFileSync(target, 'utf8');
  const leaks = [...text.matchAll(/from ['"]([^'"]+)['"]/g)].map((match) => match[1]).filter((id) => !types.includes(id));
  if (leaks.length > 0) throw new Error(`types of ${leaks.join(', ')} leak into the declarations of ${entry}`);
  writeFileSync(join(outDir, `${entry}.d.cts`), text);
}

function manifest() {
  const own = readManifest(SOURCE);
  const versions = { ...readManifest(join(ROOT, 'libs/contracts')).dependencies, ...own.dependencies };
  const root = readManifest(ROOT);
  return {
    name: own.name,
    version: own.version,
    description: 'Rate limits and quotas of a Quotaplane platform, enforced in a NestJS service',
    keywords: ['nestjs', 'rate-limit', 'quota', 'guard', 'redis', 'throttler'],
    license: own.license,
    engines: { node: root.engines.node },
    main: './index.cjs',
    module: './index.mjs',
    types: './index.d.cts',
    exports: { '.': exportOf('index'), './limiter': exportOf('limiter'), './client': exportOf('client'), './package.json': './package.json' },
    files: [...Object.keys(ENTRIES).map((entry) => `${entry}.*`), 'chunk-*'],
    sideEffects: false,
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, rangeOf(name, versions[name])])),
    peerDependencies: own.peerDependencies,
    peerDependenciesMeta: own.peerDependenciesMeta,
  };
}

function exportOf(entry) {
  return {
    import: { types: `./${entry}.d.mts`, default: `./${entry}.mjs` },
    require: { types: `./${entry}.d.cts`, default: `./${entry}.cjs` },
  };
}

/** A library leaves its users the choice of a fix release, so that two packages can share one copy. */
function rangeOf(name, version) {
  if (!version) throw new Error(`no version of ${name} is declared in libs/guard or libs/contracts`);
  return /^\d/.test(version) ? `^${version}` : version;
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Progress to standard error, so that the path alone can be read from standard output.
  const outDir = await buildGuard(undefined, (line) => console.error(line));
  const isPacked = process.argv.includes('--pack');
  if (isPacked) console.error('Packing ...');
  const path = isPacked ? await packGuard(outDir) : outDir;
  console.error(isPacked ? 'Install it in a service with: npm install <this path>' : 'Built into:');
  console.log(path);
}
