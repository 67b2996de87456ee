#!/usr/bin/env node
/**
 * Builds the published package: `dist/guard` with an ESM and a CommonJS bundle, one declaration file for each, package.json, README and licence.
 * The same for the subpath `client`, which runs in browsers and so may import nothing.
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
const ENTRY = 'src/index.ts';
const CLIENT = 'src/client/index.ts';
const PEERS = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

/**
 * @param say is told each step; the declarations take about ten seconds of processor time
 * @returns the folder of the built package
 */
export async function buildGuard(outDir = join(ROOT, 'dist/guard'), say = () => undefined) {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  say('Making the type declarations (about 10 s; longer on a busy machine) and the bundles for ESM and CommonJS ...');
  const timed = (name, work) => {
    const startedAt = performance.now();
    return work.then(() => say(`  ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`));
  };
  await Promise.all([
    timed('ESM bundle', bundle(outDir, 'esm', 'index.mjs')),
    timed('CommonJS bundle', bundle(outDir, 'cjs', 'index.cjs')),
    timed('type declarations', declare(outDir)),
    timed('client bundles', Promise.all([bundle(outDir, 'esm', 'client.mjs', CLIENT), bundle(outDir, 'cjs', 'client.cjs', CLIENT)])),
    timed('client type declarations', declare(outDir, 'client', CLIENT, [])),
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

async function bundle(outDir, format, file, entry = ENTRY) {
  const build = await rolldown({
    input: join(SOURCE, entry),
    tsconfig: join(SOURCE, 'tsconfig.json'),
    platform: entry === CLIENT ? 'browser' : 'node',
    external: [...DEPENDENCIES, ...PEERS, /^node:/],
    // Rooms that the guard does not use (periods, settlement) bring packages along that it must not depend on.
    treeshake: { moduleSideEffects: false },
    transform: { target: 'node20' },
  });
  try {
    const { output } = await build.write({ file: join(outDir, file), format, sourcemap: true, keepNames: true, exports: 'named' });
    const known = new Set([...DEPENDENCIES, ...PEERS]);
    const strange = output[0].imports.filter((id) => !id.startsWith('node:') && !known.has(id));
    if (entry === CLIENT) strange.push(...output[0].imports);
    if (strange.length > 0) throw new Error(`${file} imports ${strange.join(', ')}, which the package does not declare`);
  } finally {
    await build.close();
  }
}

/** One declaration file with the inner libraries' types inlined, for both formats. */
async function declare(outDir, name = 'index', entry = ENTRY, allowed = [...PEERS, 'prom-client']) {
  const generator = join(ROOT, 'node_modules/dts-bundle-generator/dist/bin/dts-bundle-generator.js');
  const target = join(outDir, `${name}.d.mts`);
  const args = ['-o', target, '--project', join(SOURCE, 'tsconfig.types.json'), '--external-inlines', ...INNER, '--no-banner', '--export-referenced-types', 'false', '--no-check', '--silent'];
  await run(process.execPath, [generator, ...args, '--', join(SOURCE, entry)], { cwd: ROOT });
  const text = readFileSync(target, 'utf8');
  const leaks = [...text.matchAll(/from ['"]([^'"]+)['"]/g)].map((match) => match[1]).filter((id) => !allowed.includes(id));
  if (leaks.length > 0) throw new Error(`types of ${leaks.join(', ')} leak into the declarations`);
  writeFileSync(join(outDir, `${name}.d.cts`), text);
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
    exports: {
      '.': {
        import: { types: './index.d.mts', default: './index.mjs' },
        require: { types: './index.d.cts', default: './index.cjs' },
      },
      './client': {
        import: { types: './client.d.mts', default: './client.mjs' },
        require: { types: './client.d.cts', default: './client.cjs' },
      },
      './package.json': './package.json',
    },
    files: ['index.*', 'client.*'],
    sideEffects: false,
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, rangeOf(name, versions[name])])),
    peerDependencies: own.peerDependencies,
    peerDependenciesMeta: own.peerDependenciesMeta,
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
