// Hand-written types of the plain JavaScript beside this file.
export interface Places {
  schemaFile?: string;
  migrationsDir?: string;
}
export function schemaDrift(databaseUrl: string, places?: Places): Promise<string>;
export function writeMigration(databaseUrl: string, name: string, places?: Places & { extraSqlFile?: string }): Promise<string | undefined>;
