#!/usr/bin/env node
/**
 * Writes docs/api/openapi.json from the routes of libs/contracts. Usage: `node tools/openapi.mjs [--check]`;
 * with --check it writes nothing and fails when the committed document is not what the routes say.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = join(ROOT, 'docs/api/openapi.json');

/** The document as text, from the contract's sources as they are now. */
export async function openApiText() {
  // Inside the repository, so that the bundle's import of zod resolves.
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
  const outDir = mkdtempSync(join(ROOT, 'node_modules/.cache/openapi-'));
  try {
    const { rolldown } = await import('rolldown');
    const build = await rolldown({ input: join(ROOT, 'libs/contracts/src/openapi.ts'), platform: 'node', external: ['zod'] });
    await build.write({ dir: outDir, format: 'esm', entryFileNames: 'openapi.mjs' });
    await build.close();
    const { openApiDocument } = await import(pathToFileURL(join(outDir, 'openapi.mjs')).href);
    return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Whether the committed document is what the routes say. */
export async function isOpenApiFresh() {
  return readCommitted() === (await openApiText());
}

function readCommitted() {
  try {
    return readFileSync(DOCUMENT, 'utf8');
  } catch {
    return '';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    if (!(await isOpenApiFresh())) {
      console.error('docs/api/openapi.json is not what libs/contracts says; run node tools/openapi.mjs and commit it.');
      process.exitCode = 1;
    }
  } else {
    mkdirSync(dirname(DOCUMENT), { recursive: true });
    writeFileSync(DOCUMENT, await openApiText());
  }
}
