// The Postgres and the Redis of one start: the given ones checked, else embedded ones in the data folder.
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError, reasonOf } from './bootstrap-settings.mjs';
import { GUARD_USER, guardUserLine } from './guard-user.mjs';
import { freePort, isPortFree, startPostgresServer, startRedisServer } from './stores/index.mjs';

const CONNECT_LIMIT_MS = 5_000;

/**
 * @typedef {object} Store
 * @property {string} url
 * @property {string} [guardUrl] of the embedded Redis: the address for guards, whose user can neither write policies nor keys
 * @property {EmbeddedServer | undefined} server the embedded one
 * @property {() => Promise<EmbeddedServer | undefined>} [reopen] starts it again on its port; undefined when another server answers there by now
 */

/** @typedef {{ pid: number, port: number, exited: Promise<void>, stop: () => Promise<void> }} EmbeddedServer */

/**
 * @param {string} folder the data folder
 * @param {string} password of the embedded one
 * @param {number | undefined} lastPort taken again if free
 * @returns {Promise<Store>}
 * @throws {StartError}
 */
export async function openPostgres(folder, password, lastPort) {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL) {
    await checkGiven('DATABASE_URL', DATABASE_URL, 'postgresql://user:password@host:5432/database', ['postgres:', 'postgresql:'], checkPostgres);
    return { url: DATABASE_URL, server: undefined };
  }
  const server = await embedded('Postgres', 'DATABASE_URL', async () =>
    startPostgresServer({ dataDir: join(folder, 'postgres'), port: await portLike(lastPort), password }),
  );
  return { url: await databaseOf(server.url), server };
}

/**
 * @param {string} folder the data folder
 * @param {{ own: string, guard: string }} passwords of the embedded one and of its user for guards
 * @param {number | undefined} lastPort taken again if free, so that a separate echo finds it after a restart
 * @returns {Promise<Store>}
 * @throws {StartError}
 */
export async function openRedis(folder, passwords, lastPort) {
  const { REDIS_URL } = process.env;
  if (REDIS_URL) {
    await checkRedis(REDIS_URL);
    return { url: REDIS_URL, server: undefined };
  }
  const settings = { dataDir: join(folder, 'redis'), isDurable: true, password: passwords.own, config: [guardUserLine(passwords.guard)] };
  const start = async (/** @type {number | undefined} */ port, /** @type {'w' | 'a'} */ logMode) => {
    const logFd = openSync(join(folder, 'redis.log'), logMode, 0o600);
    try {
      return await startRedisServer({ ...settings, logFd, ...(port ? { port } : {}) });
    } finally {
      closeSync(logFd);
    }
  };
  const server = await embedded('Redis', 'REDIS_URL', async () => start(await portLike(lastPort), 'w'));
  // Guards and API know this address, so it has to come back there or not at all.
  const reopen = async () => {
    if (!(await isPortFree(server.port))) return void (await checkRedis(server.url));
    return embedded('Redis', 'REDIS_URL', () => start(server.port, 'a'));
  };
  return { url: server.url, guardUrl: guardUrlOf(server.url, passwords.guard), server, reopen };
}

/**
 * @param {string} redisUrl
 * @param {string} password
 */
function guardUrlOf(redisUrl, password) {
  const url = new URL(redisUrl);
  url.username = GUARD_USER;
  url.password = password;
  return url.href;
}

/**
 * @param {string} url
 * @throws {StartError} nothing that speaks Redis answers there
 */
export async function checkRedis(url) {
  await checkGiven('REDIS_URL', url, 'redis://host:6379', ['redis:', 'rediss:'], async () => {
    const { Redis } = await import('ioredis');
    const client = new Redis(url, { lazyConnect: true, connectTimeout: CONNECT_LIMIT_MS, retryStrategy: () => null, maxRetriesPerRequest: 0 });
    // The client reports why it could not connect here; the rejection only says that it is closed.
    let cause;
    client.on('error', (error) => (cause = error));
    try {
      await client.connect();
      await client.ping();
    } catch (error) {
      throw cause ?? error;
    } finally {
      client.disconnect();
    }
  });
}

/** @param {string} url */
async function checkPostgres(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * @param {string} variable
 * @param {string} text
 * @param {string} example
 * @param {string[]} protocols
 * @param {(url: string) => Promise<void>} check
 */
async function checkGiven(variable, text, example, protocols, check) {
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new StartError(`${variable} is no address such as ${example}. Correct it, or unset it to use the embedded server.`);
  }
  // A server of another kind may accept the connection and never say a word.
  const silence = sleep(CONNECT_LIMIT_MS).then(() => Promise.reject(new Error(`no answer within ${CONNECT_LIMIT_MS / 1000} s`)));
  silence.catch(() => undefined);
  try {
    await Promise.race([check(text), silence]);
  } catch (error) {
    // Host and database only: the user's password is in the same text.
    const { host, pathname } = new URL(text);
    throw new StartError(`Nothing usable answers at ${host}${pathname} (${reasonOf(error)}). Correct ${variable}, or unset it to use the embedded server.`);
  }
}

/**
 * @template T
 * @param {string} name
 * @param {string} variable
 * @param {() => Promise<T>} start
 * @returns {Promise<T>}
 */
async function embedded(name, variable, start) {
  try {
    return await start();
  } catch (error) {
    const reason = reasonOf(error);
    throw new StartError(reason.includes(variable) ? reason : `The embedded ${name} did not start: ${reason}. Set ${variable} to use another one.`);
  }
}

/** @param {number | undefined} lastPort */
async function portLike(lastPort) {
  return lastPort !== undefined && (await isPortFree(lastPort)) ? lastPort : freePort();
}

/**
 * Makes the database quotaplane in an embedded cluster.
 * @param {string} clusterUrl
 * @returns {Promise<string>} its address
 */
async function databaseOf(clusterUrl) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: clusterUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query(`SELECT 1 FROM pg_database WHERE datname = 'quotaplane'`);
    if (!rowCount) await client.query('CREATE DATABASE quotaplane');
  } finally {
    await client.end();
  }
  const url = new URL(clusterUrl);
  url.pathname = '/quotaplane';
  return url.href;
}
