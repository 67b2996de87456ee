// What start and echo read from the environment, and the secrets that are made when it names none.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort, isPortFree, parsePort } from './stores/index.mjs';

const DEFAULT_PORT = 3000;
const DEFAULT_ECHO_PORT = 3001;

/** A mistake of the environment that its owner can mend; the message is one line that says how. */
export class StartError extends Error {
  name = 'StartError';
}

/**
 * Adds the variables of the file `.env` in the folder, when there is one. Those that are set already win.
 * @param {string} folder
 */
export function loadSettingsFile(folder) {
  const file = join(folder, '.env');
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    throw new StartError(`${file} cannot be read: ${reasonOf(error)}. Mend or remove it.`);
  }
}

/** @returns {string} the data folder, made when missing */
export function dataFolder() {
  const folder = resolve(process.env.QUOTAPLANE_DATA_DIR || '.data');
  try {
    // Root's Postgres runs as another user, who must be able to pass through; all files inside are closed to others.
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    throw new StartError(`The data folder ${folder} cannot be made: ${reasonOf(error)}. Set QUOTAPLANE_DATA_DIR to a folder you can write to.`);
  }
  return folder;
}

/**
 * The ports of the API and of echo, both free a moment ago; 0 stands for any free port.
 * @returns {Promise<{ port: number, echoPort: number }>}
 * @throws {StartError}
 */
export async function choosePorts() {
  const port = await choosePort('PORT', DEFAULT_PORT);
  const echoPort = await choosePort('ECHO_PORT', DEFAULT_ECHO_PORT);
  if (port === echoPort) throw new StartError(`PORT and ECHO_PORT are both ${port}. Set ECHO_PORT to another port.`);
  return { port, echoPort };
}

/**
 * @param {'PORT' | 'ECHO_PORT'} name
 * @param {number} fallback 0 for any free port
 * @returns {Promise<number>} never 0
 * @throws {StartError} no port, or taken
 */
export async function choosePort(name, fallback) {
  const port = asStartError(() => parsePort(name, process.env[name], fallback));
  if (port === 0) return freePort();
  // A server on one address alone hides from a probe of another.
  const isFree = (await isPortFree(port)) && (await isPortFree(port, '0.0.0.0')) && (await isPortFree(port, '::'));
  if (!isFree) throw new StartError(`Port ${port} is taken. Stop what listens there, or set ${name} to a free port.`);
  return port;
}

/**
 * @param {string} folder the data folder
 * @returns the environment's secrets, or those that an earlier start or this one made
 */
export function readSecrets(folder) {
  const adminPassword = secret(folder, 'admin-password', 'QUOTAPLANE_ADMIN_PASSWORD', 18);
  return {
    adminEmail: process.env.QUOTAPLANE_ADMIN_EMAIL || 'admin@example.com',
    adminPassword,
    bootstrapToken: secret(folder, 'bootstrap-token', 'QUOTAPLANE_BOOTSTRAP_TOKEN', 32),
    tokenPepper: secret(folder, 'token-pepper', 'QUOTAPLANE_TOKEN_PEPPER', 32),
    sessionKey: secret(folder, 'session-key', 'QUOTAPLANE_SESSION_KEY', 32),
    signingKey: secret(folder, 'signing-key', 'QUOTAPLANE_SIGNING_KEY', 32),
    postgresPassword: secret(folder, 'postgres-password', undefined, 24),
    redisPassword: secret(folder, 'redis-password', undefined, 24),
    redisGuardPassword: secret(folder, 'redis-guard-password', undefined, 24),
  };
}

/**
 * @typedef {object} Secret
 * @property {string} value
 * @property {boolean} isGiven by the environment
 * @property {string} file where it is kept unless the environment gave it
 */

/**
 * @param {string} folder
 * @param {string} name
 * @param {string | undefined} variable
 * @param {number} bytes of randomness
 * @returns {Secret}
 */
function secret(folder, name, variable, bytes) {
  const file = join(folder, 'secrets', name);
  const given = variable && process.env[variable];
  if (given) return { value: given, isGiven: true, file };
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return { value: kept, isGiven: false, file };
  const value = randomBytes(bytes).toString('base64url');
  mkdirSync(join(folder, 'secrets'), { recursive: true, mode: 0o700 });
  writeClosed(file, value);
  return { value, isGiven: false, file };
}

/**
 * Writes a file that its owner alone can read.
 * @param {string} file
 * @param {string} line
 */
export function writeClosed(file, line) {
  // Renamed when whole: half a secret would be taken for a whole one at the next start.
  writeFileSync(`${file}.draft`, `${line}\n`, { mode: 0o600 });
  chmodSync(`${file}.draft`, 0o600);
  renameSync(`${file}.draft`, file);
}

/**
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function asStartError(work) {
  try {
    return work();
  } catch (error) {
    throw new StartError(reasonOf(error));
  }
}

/**
 * The first line of an error's message; a refused connection to several addresses has an empty one and parts.
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || /** @type {NodeJS.ErrnoException} */ (error).code || error.name : String(error);
  return text.split('\n')[0].replace(/[.:]$/, '');
}
