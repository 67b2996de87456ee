// Prisma's own schema engine as WebAssembly: what the stock CLI downloads as a binary, without the download.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { readMigrations } from './migrate.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SCHEMA_FILE = join(ROOT, 'prisma/schema.prisma');
export const MIGRATIONS_DIR = join(ROOT, 'prisma/migrations');
const CHAR_TYPE = 18;
const BPCHAR_TYPE = 1042;

/**
 * Runs the work with an engine that is connected to the database.
 * @template T
 * @param {string} databaseUrl
 * @param {(engine: import('@prisma/schema-engine-wasm').SchemaEngine) => Promise<T>} work
 * @param {string} [schemaFile]
 * @returns {Promise<T>}
 */
export async function withSchemaEngine(databaseUrl, work, schemaFile = SCHEMA_FILE) {
  const { SchemaEngine } = await (loadedEngine ??= loadEngine());
  const pool = new pg.Pool({ connectionString: databaseUrl, Client: CharNotingClient });
  pool.on('error', () => undefined);
  const adapter = bindMigrationAwareSqlAdapterFactory(withCharacters(new PrismaPg(pool)));
  const datamodels = [[schemaFile, readFileSync(schemaFile, 'utf8')]];
  const engine = await SchemaEngine.new({ datamodels: /** @type {[string, string][]} */ (datamodels) }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/**
 * The SQL or the human-readable list of changes from one state to another.
 * @param {import('@prisma/schema-engine-wasm').SchemaEngine} engine
 * @param {import('@prisma/schema-engine-wasm').DiffTarget} from
 * @param {import('@prisma/schema-engine-wasm').DiffTarget} to
 * @param {{ isScript: boolean }} options
 * @returns {Promise<string>} '' when there is no difference
 */
export async function diff(engine, from, to, { isScript }) {
  const filters = { externalTables: [], externalEnums: [] };
  const result = await engine.diff({ from, to, script: isScript, exitCode: true, filters });
  return result.exitCode === 2 ? (result.stdout ?? '') : '';
}

/** @returns {import('@prisma/schema-engine-wasm').DiffTarget} */
export function schemaTarget(schemaFile = SCHEMA_FILE) {
  return { tag: 'schemaDatamodel', files: [{ path: schemaFile, content: readFileSync(schemaFile, 'utf8') }] };
}

/**
 * The database that the engine is connected to. The migrations as a target would need a shadow database, which the adapter
 * drops while its own pool still uses it.
 * @returns {import('@prisma/schema-engine-wasm').DiffTarget}
 */
export function liveTarget(schemaFile = SCHEMA_FILE) {
  return { tag: 'schemaDatasource', files: [{ path: schemaFile, content: readFileSync(schemaFile, 'utf8') }], configDir: dirname(schemaFile) };
}

/**
 * @param {string} migrationsDir
 * @returns {import('@prisma/schema-engine-wasm').MigrationList}
 */
export function migrationList(migrationsDir) {
  return {
    baseDir: migrationsDir,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: readMigrations(migrationsDir).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  };
}

/**
 * Once per process: the glue code keeps one module's memory, and a second module would read the first one's pointers.
 * @type {ReturnType<typeof loadEngine> | undefined}
 */
let loadedEngine;

/** The package imports its .wasm as a module, which Node 20 cannot: it is instantiated by hand. */
async function loadEngine() {
  // The engine tells why it panics through this global before it throws "unreachable".
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: (/** @type {string} */ message) => console.error(message) } });
  const require = createRequire(import.meta.url);
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const file = join(dirname(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg')), 'schema_engine_bg.wasm');
  const { instance } = await WebAssembly.instantiate(await readFile(file), { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return glue;
}

/** Rows of an answer -> positions of its columns of the catalogue's type "char", which the adapter does not know. */
const charColumns = new WeakMap();

class CharNotingClient extends pg.Client {
  /** @param {any[]} args */
  query(...args) {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return super.query(...args).then(noteChars);
    return super.query(...args.slice(0, -1), (/** @type {unknown} */ error, /** @type {any} */ result) => callback(error, noteChars(result)));
  }
}

/** @param {any} result */
function noteChars(result) {
  const positions = (result?.fields ?? []).flatMap((/** @type {any} */ field, /** @type {number} */ at) => (field.dataTypeID === CHAR_TYPE ? [at] : []));
  for (const at of positions) result.fields[at].dataTypeID = BPCHAR_TYPE;
  if (positions.length > 0) charColumns.set(result.rows, positions);
  return result;
}

/**
 * Makes the adapter announce "char" columns as single characters, for as text the engine refuses them.
 * @param {import('@prisma/driver-adapter-utils').SqlMigrationAwareDriverAdapterFactory} factory
 */
function withCharacters(factory) {
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const answer = await queryRaw(query);
      for (const at of charColumns.get(answer.rows) ?? []) answer.columnTypes[at] = ColumnTypeEnum.Character;
      return answer;
    };
    return adapter;
  };
  return factory;
}
