import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { MeasuredRequest } from './list-requests';
import type { RestClient } from './rest-client';

/** Tables that no list may read whole. */
const BIG = ['tenants', 'overrides', 'audit_entries', 'usage_journals', 'usage_periods', 'usage_months', 'tier_assignments', 'api_keys', 'traffic_minutes'];

/**
 * Asks for each list once while Postgres logs every plan.
 * @returns the big tables that were read whole, each with the requests that did so
 */
export async function wholeReads(databaseUrl: string, rest: RestClient, requests: readonly MeasuredRequest[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const database = new URL(databaseUrl).pathname.slice(1);
  try {
    const { rows } = await client.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`);
    const log = `${rows[0]?.folder ?? ''}/server.log`;
    await client.query(`ALTER DATABASE "${database}" SET session_preload_libraries = 'auto_explain'`);
    await client.query(`ALTER DATABASE "${database}" SET auto_explain.log_min_duration = 0`);
    // Connections load it when they are made.
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');
    await sleep(500);
    await rest.ask('GET', '/v1/tenants?limit=1').catch(() => undefined);
    const found: string[] = [];
    for (const { name, pathOf } of requests) {
      const from = statSync(log).size;
      for (const index of [0, 1, 2, 3]) await rest.ask('GET', pathOf(index));
      const plans = readFileSync(log).subarray(from).toString('utf8');
      found.push(...BIG.filter((table) => new RegExp(`Seq Scan on ${table}(_\\d{4}_\\d{2}|_default)?\\b`).test(plans)).map((table) => `${table} by "${name}"`));
    }
    return found;
  } finally {
    await client.query(`ALTER DATABASE "${database}" RESET session_preload_libraries`);
    await client.end();
  }
}
