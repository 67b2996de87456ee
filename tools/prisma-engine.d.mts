// Hand-written types of the plain JavaScript beside this file.
import type { DiffTarget, MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';

export const ROOT: string;
export const SCHEMA_FILE: string;
export const MIGRATIONS_DIR: string;
export function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>, schemaFile?: string): Promise<T>;
export function diff(engine: SchemaEngine, from: DiffTarget, to: DiffTarget, options: { isScript: boolean }): Promise<string>;
export function schemaTarget(schemaFile?: string): DiffTarget;
export function liveTarget(schemaFile?: string): DiffTarget;
export function migrationList(migrationsDir: string): MigrationList;
