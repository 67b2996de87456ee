import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type TestPostgres } from '@quotaplane/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { schemaDrift, writeMigration } from './prisma-diff.mjs';
import { SCHEMA_FILE } from './prisma-engine.mjs';

let postgres: TestPostgres;
let folder: string;

beforeEach(async () => {
  postgres = await startPostgres({ migrationsDir: null });
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-diff-'));
});

afterEach(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('finds that the migrations of the repository lead to its schema', async () => {
  expect(await schemaDrift(postgres.url)).toBe('');
});

it('finds a column that the schema has and the migrations lack', async () => {
  const schemaFile = join(folder, 'schema.prisma');
  writeFileSync(schemaFile, readFileSync(SCHEMA_FILE, 'utf8').replace('model Settings {', 'model Settings {\n  unheardOf Int @default(1)'));
  expect(await schemaDrift(postgres.url, { schemaFile })).toContain('ALTER TABLE "settings" ADD COLUMN     "unheardOf" INTEGER NOT NULL DEFAULT 1');
});

it('writes a migration that leads to the schema, with the extra SQL in the first one only', async () => {
  const places = { schemaFile: join(folder, 'schema.prisma'), migrationsDir: join(folder, 'migrations'), extraSqlFile: join(folder, 'extra.sql') };
  const schema = 'datasource db {\n  provider = "postgresql"\n}\nmodel Thing {\n  id Int @id\n}\n';
  writeFileSync(places.schemaFile, schema);
  writeFileSync(places.extraSqlFile, 'CREATE VIEW "seen" AS SELECT 1 AS "one";\n');
  const first = await writeMigration(postgres.url, 'Make things', places);
  expect(first).toMatch(/\d{14}_make_things\/migration\.sql$/);
  expect(readFileSync(String(first), 'utf8')).toMatch(/CREATE TABLE "Thing"[^]*CREATE VIEW "seen"/);
  expect(await writeMigration(postgres.url, 'again', places)).toBeUndefined();
  writeFileSync(places.schemaFile, schema.replace('@id', '@id\n  name String?'));
  const second = await writeMigration(postgres.url, 'name things', places);
  expect(readFileSync(String(second), 'utf8')).not.toContain('seen');
  expect(readdirSync(places.migrationsDir)).toHaveLength(3);
});
