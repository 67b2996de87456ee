// Hand-written types of the plain JavaScript beside this file.
export class MigrationError extends Error {}
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}
export function migrate(databaseUrl: string, options?: { migrationsDir?: string }): Promise<string[]>;
export function readMigrations(folder: string): Migration[];
