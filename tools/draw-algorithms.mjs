#!/usr/bin/env node
/**
 * Draws the pictures of docs/algorithms.md: the same callers before each algorithm, judged by the models that guards run. Usage:
 * `node tools/draw-algorithms.mjs [--check]`; with --check it writes nothing and fails when a committed picture is not what the models say.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { drawConcurrency, drawRate } from './algorithm-pictures/draw.mjs';
import { CONCURRENCY, playCalls, playSlots, RATES } from './algorithm-pictures/scenes.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'docs/images/algorithms');

/** @returns file name -> SVG, from the models' sources as they are now */
export async function drawAll() {
  const InProcessLimitStore = await loadStore();
  const pictures = new Map();
  for (const scene of RATES) pictures.set(`${scene.file}.svg`, drawRate(scene, await playCalls(scene, InProcessLimitStore)));
  pictures.set(`${CONCURRENCY.file}.svg`, drawConcurrency(CONCURRENCY, await playSlots(CONCURRENCY, InProcessLimitStore)));
  return pictures;
}

/** The in-process store is the pure models and nothing else; the bundle keeps this script free of a TypeScript loader. */
async function loadStore() {
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
  // Inside the repository, so that the bundle's import of zod resolves.
  const outDir = mkdtempSync(join(ROOT, 'node_modules/.cache/models-'));
  try {
    const { rolldown } = await import('rolldown');
    const build = await rolldown({
      input: join(ROOT, 'libs/rate-limit/src/memory/in-process-limit-store.ts'), platform: 'node', external: ['zod'],
      resolve: { alias: { '@quotaplane/contracts': join(ROOT, 'libs/contracts/src/index.ts') } },
    });
    await build.write({ file: join(outDir, 'store.mjs'), format: 'esm' });
    await build.close();
    return (await import(pathToFileURL(join(outDir, 'store.mjs')).href)).InProcessLimitStore;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Names of the committed pictures that the models would draw otherwise. */
export async function stalePictures() {
  return [...(await drawAll())].filter(([name, svg]) => readCommitted(name) !== svg).map(([name]) => name);
}

function readCommitted(name) {
  try {
    return readFileSync(join(FOLDER, name), 'utf8');
  } catch {
    return '';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const stale = await stalePictures();
    for (const name of stale) console.error(`docs/images/algorithms/${name} is not what the models say; run node tools/draw-algorithms.mjs and commit it.`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, svg] of await drawAll()) writeFileSync(join(FOLDER, name), svg);
  }
}
