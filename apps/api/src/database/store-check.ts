import { Redis } from 'ioredis';
import pg from 'pg';
import { ConfigError, type AppConfig } from '../config/app-config';

const CONNECT_MS = 5_000;

/** @throws {ConfigError} Postgres or Redis does not answer, or Postgres has not been migrated; one line that says what to do */
export async function requireStores({ databaseUrl, redisUrl }: Pick<AppConfig, 'databaseUrl' | 'redisUrl'>): Promise<void> {
  const checks = await Promise.allSettled([requirePostgres(databaseUrl), requireRedis(redisUrl)]);
  for (const check of checks) if (check.status === 'rejected') throw check.reason;
}

async function requirePostgres(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('changes') IS NOT NULL AS found`);
    if (!rows[0]?.found) throw new ConfigError('The database has no Quotaplane tables. Run node tools/migrate.mjs against DATABASE_URL.');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`Postgres at ${place(connectionString)} does not let us in: ${reasonOf(error)}. Start it, or correct DATABASE_URL.`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function requireRedis(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: CONNECT_MS, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  let lastError: unknown;
  redis.on('error', (error: unknown) => {
    lastError = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw new ConfigError(`Redis at ${place(url)} does not answer: ${reasonOf(lastError ?? error)}. Start it, or correct REDIS_URL.`);
  } finally {
    redis.disconnect();
  }
}

/** Host and port only: a URL may hold a password. */
function place(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message.split('\n', 1)[0] ?? error.name : String(error);
}
