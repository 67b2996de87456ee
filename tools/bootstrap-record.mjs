// run.json in the data folder: what the running start has started, for `npm run echo` and for healing after kill -9.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from './bootstrap-settings.mjs';
import { isStampAlive, signalQuietly, stopProcess } from './stores/index.mjs';

const APP_LIMIT_MS = 10_000;

/**
 * @typedef {object} RunRecord
 * @property {string} [redisUrl] of the embedded Redis
 * @property {string} [guardRedisUrl] of the embedded Redis, for guards
 * @property {number} [redisPort]
 * @property {number} [postgresPort]
 * @property {string} [redisStamp] pid and start time of a process, see processStamp
 * @property {string} [postgresStamp]
 * @property {string[]} appStamps
 * @property {boolean} [isPasswordShown] the generated password of the first operator
 */

/** @param {string} folder @returns {RunRecord} */
export function readRecord(folder) {
  try {
    return { appStamps: [], ...JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) };
  } catch {
    // Missing, or of a version that wrote it otherwise: then nothing is known.
    return { appStamps: [] };
  }
}

/** @param {string} folder @param {RunRecord} record */
export function writeRecord(folder, record) {
  const file = join(folder, 'run.json');
  writeFileSync(`${file}.draft`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${file}.draft`, file);
}

/** @returns {string | undefined} the address for guards of the embedded Redis of a start that runs on the data folder */
export function runningRedis() {
  const { redisUrl, guardRedisUrl, redisStamp } = readRecord(dataFolder());
  return redisStamp && isStampAlive(redisStamp) ? (guardRedisUrl ?? redisUrl) : undefined;
}

/**
 * Ends what a killed start left running. Two Redis servers would spoil one append-only file, and old apps would hold the ports.
 * A left-over Postgres is ended by the start of the next one.
 * @param {string} folder
 */
export async function stopLeftOvers(folder) {
  const { appStamps, redisStamp } = readRecord(folder);
  const pidsAlive = (/** @type {string[]} */ stamps) => stamps.filter(isStampAlive).map((stamp) => Number.parseInt(stamp, 10));
  await Promise.all(pidsAlive(appStamps).map((pid) => stopProcess(pid, 'SIGTERM', APP_LIMIT_MS)));
  for (const pid of pidsAlive(redisStamp ? [redisStamp] : [])) {
    signalQuietly(pid, 'SIGCONT');
    await stopProcess(pid, 'SIGTERM', APP_LIMIT_MS);
  }
}
