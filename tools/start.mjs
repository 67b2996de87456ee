#!/usr/bin/env node
// npm start: installs, starts the stores, builds, migrates, seeds, runs API, worker and echo, says "ready", and stops all of it again.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProduct, runToEnd, startApp, untilHealthy } from './bootstrap-apps.mjs';
import { Lifetime } from './bootstrap-lifetime.mjs';
import { readRecord, stopLeftOvers, writeRecord } from './bootstrap-record.mjs';
import { StartError, choosePorts, dataFolder, loadSettingsFile, readSecrets, writeClosed } from './bootstrap-settings.mjs';
import { openPostgres, openRedis } from './bootstrap-stores.mjs';
import { ensureInstalled } from './install.mjs';
import { lockHolder, processStamp, tryLock, unlock } from './stores/index.mjs';

/** @typedef {ReturnType<typeof readSecrets>} Secrets */

const life = new Lifetime();
try {
  loadSettingsFile(fileURLToPath(new URL('..', import.meta.url)));
  await ensureInstalled();
  life.listenForSignals();
  await start();
} catch (error) {
  await life.fail(error instanceof Error ? error.message : String(error));
}

async function start() {
  const folder = dataFolder();
  lockFolder(folder);
  await stopLeftOvers(folder);
  const { port, echoPort } = await choosePorts();
  const secrets = readSecrets(folder);
  const { databaseUrl, redisUrl, guardRedisUrl } = await prepare(folder, secrets);

  // One's own machine is where the first receiver of a webhook runs.
  const webhooks = { QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: process.env.QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE || '1' };
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const env = { ...process.env, ...secretVariables(secrets), ...webhooks, ...stores, PORT: String(port), ECHO_PORT: String(echoPort) };
  const logs = join(folder, 'logs');
  if (!life.signal.aborted) await runToEnd('The seed', 'api/seed.mjs', env, logs, life.signal);
  if (life.signal.aborted) return;
  const apps = [
    startApp('The API', 'api/main.mjs', env, logs),
    startApp('The worker', 'api/worker.mjs', env, logs),
    startApp('Echo', 'echo/main.mjs', { ...process.env, REDIS_URL: redisUrl, QUOTAPLANE_GUARD_REDIS_URL: guardRedisUrl, ECHO_PORT: String(echoPort) }, logs),
  ];
  for (const app of apps) life.addApp(app);
  writeRecord(folder, { ...readRecord(folder), appStamps: apps.map(({ pid }) => processStamp(pid)) });

  const url = `http://127.0.0.1:${port}`;
  const echoUrl = `http://127.0.0.1:${echoPort}`;
  await Promise.all([untilHealthy(`${url}/health/ready`, life.signal), untilHealthy(`${echoUrl}/health`, life.signal)]);
  if (life.signal.aborted) return;
  const guardFile = join(folder, 'guard-redis-url');
  // The addresses hold passwords, so they are kept where only their owner reads and never printed.
  writeClosed(join(folder, 'redis-url'), redisUrl);
  writeClosed(guardFile, guardRedisUrl);
  const { account, hint } = signIn(secrets, readRecord(folder).isPasswordShown);
  console.log(`Quotaplane ${url} as ${account}, echo ${echoUrl}, API docs ${url}/docs`);
  console.log(hint);
  console.log(`REDIS_URL for your own services: see ${guardFile}`);
  console.log('ready');
  writeRecord(folder, { ...readRecord(folder), isPasswordShown: true });
}

/**
 * Starts the stores beside the build and migrates as soon as Postgres answers.
 * @param {string} folder the data folder
 * @param {Secrets} secrets
 */
async function prepare(folder, secrets) {
  const last = readRecord(folder);
  const opening = {
    redis: openRedis(folder, { own: secrets.redisPassword.value, guard: secrets.redisGuardPassword.value }, last.redisPort),
    postgres: openPostgres(folder, secrets.postgresPassword.value, last.postgresPort),
  };
  life.addStore('Redis', opening.redis, 'SIGTERM', ({ pid }) => writeRecord(folder, { ...readRecord(folder), redisStamp: processStamp(pid) }));
  life.addStore('Postgres', opening.postgres, 'SIGINT');
  const recorded = opening.redis.then(({ url, guardUrl, server }) => {
    if (server) writeRecord(folder, { ...last, redisUrl: url, ...(guardUrl ? { guardRedisUrl: guardUrl } : {}), redisPort: server.port, redisStamp: processStamp(server.pid), appStamps: [] });
  });
  const migrated = opening.postgres.then(async ({ url }) => (await import('./migrate.mjs')).migrate(url));
  const [redis, postgres] = await Promise.all([opening.redis, opening.postgres, recorded, migrated, buildProduct()]);
  if (postgres.server) writeRecord(folder, { ...readRecord(folder), postgresPort: postgres.server.port, postgresStamp: processStamp(postgres.server.pid) });
  return { databaseUrl: postgres.url, redisUrl: redis.url, guardRedisUrl: process.env.QUOTAPLANE_GUARD_REDIS_URL || redis.guardUrl || redis.url };
}

/** @param {string} folder the data folder: two starts on one would fight for its files */
function lockFolder(folder) {
  const lock = join(folder, 'start.lock');
  if (!tryLock(lock)) {
    throw new StartError(
      `Quotaplane is already running from ${folder} (process ${lockHolder(lock) ?? 'unknown'}). ` +
        'Stop it first, or set QUOTAPLANE_DATA_DIR, PORT and ECHO_PORT for a second one.',
    );
  }
  life.addLastStep(() => unlock(lock));
}

/** @param {Secrets} secrets */
function secretVariables(secrets) {
  return {
    QUOTAPLANE_ADMIN_EMAIL: secrets.adminEmail,
    QUOTAPLANE_ADMIN_PASSWORD: secrets.adminPassword.value,
    QUOTAPLANE_BOOTSTRAP_TOKEN: secrets.bootstrapToken.value,
    QUOTAPLANE_TOKEN_PEPPER: secrets.tokenPepper.value,
    QUOTAPLANE_SESSION_KEY: secrets.sessionKey.value,
    QUOTAPLANE_SIGNING_KEY: secrets.signingKey.value,
  };
}

/**
 * @param {Secrets} secrets
 * @param {boolean | undefined} isShown whether an earlier start got as far as showing the generated password
 */
function signIn({ adminEmail, adminPassword: { value, isGiven, file } }, isShown) {
  if (isGiven) return { account: adminEmail, hint: 'Sign in with the password in QUOTAPLANE_ADMIN_PASSWORD' };
  if (isShown) return { account: adminEmail, hint: `Sign in with the password kept in ${file}` };
  return { account: `${adminEmail} / ${value}`, hint: `The password is shown this once and kept in ${file}` };
}
