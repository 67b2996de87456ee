#!/usr/bin/env node
// npm run statements:verify [-- <tenant>]: recomputes all statements from the raw rows and names whatever was changed. Ends with 0 when they are sound, 1 when
// not, 2 when it could not look. Reads DATABASE_URL, or the Postgres of a running `npm start` in the same data folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProduct, entryFile } from './bootstrap-apps.mjs';
import { readRecord } from './bootstrap-record.mjs';
import { StartError, dataFolder, loadSettingsFile } from './bootstrap-settings.mjs';
import { isStampAlive } from './stores/index.mjs';

try {
  loadSettingsFile(fileURLToPath(new URL('..', import.meta.url)));
  process.env.DATABASE_URL ||= runningPostgres();
  if (!process.env.DATABASE_URL) throw new StartError('No Postgres is known. Set DATABASE_URL, or run npm start first and keep it running.');
  await buildProduct({ console: false });
  await import(entryFile('api/verify-statements.mjs'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

/** @returns {string} '' where none of a start runs on the data folder */
function runningPostgres() {
  const folder = dataFolder();
  const { postgresPort, postgresStamp } = readRecord(folder);
  if (!postgresPort || !postgresStamp || !isStampAlive(postgresStamp)) return '';
  const url = new URL(`postgresql://postgres@127.0.0.1:${postgresPort}/quotaplane`);
  url.password = readFileSync(join(folder, 'secrets/postgres-password'), 'utf8').trim();
  return url.href;
}
