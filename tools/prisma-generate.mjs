#!/usr/bin/env node
// Generates the Prisma client into apps/api/src/database/generated, unless it was made from this very schema before.
// Usage: node tools/prisma-generate.mjs [--force]
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withFileLock } from './stores/file-lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'apps/api/src/database/generated');
const STAMP = join(OUTPUT, '.schema-hash');

/**
 * @param {{ isForced?: boolean }} [options]
 * @returns {Promise<boolean>} false when the client was up to date
 * @throws {Error} the schema is wrong; the message is Prisma's
 */
export async function generatePrismaClient({ isForced = false } = {}) {
  const hash = schemaHash();
  if (!isForced && isFresh(hash)) return false;
  mkdirSync(OUTPUT, { recursive: true });
  return withFileLock(`${OUTPUT}.lock`, async () => {
    if (!isForced && isFresh(hash)) return false;
    // The engine is not needed for generating, but the CLI wants to download one unless this names an executable.
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1', CHECKPOINT_DISABLE: '1' };
    const args = [join(ROOT, 'node_modules/prisma/build/index.js'), 'generate', '--no-hints'];
    try {
      await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    } catch (error) {
      const { stderr, message } = /** @type {{ stderr?: string, message: string }} */ (error);
      throw new Error(`prisma generate failed: ${stderr?.trim() || message}`, { cause: error });
    }
    writeFileSync(STAMP, hash);
    return true;
  });
}

/** @param {string} hash */
function isFresh(hash) {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash && existsSync(join(OUTPUT, 'client.ts'));
}

function schemaHash() {
  const hash = createHash('sha256');
  for (const file of ['prisma/schema.prisma', 'node_modules/prisma/package.json']) hash.update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const isNew = await generatePrismaClient({ isForced: process.argv.includes('--force') });
    console.log(isNew ? 'The Prisma client was generated.' : 'The Prisma client is up to date.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
