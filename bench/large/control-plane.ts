import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startPostgres, startRedis } from '@quotaplane/testing';
import { RestClient } from './rest-client';

const START_LIMIT_MS = 60_000;

/** The operator of a bench's control plane. */
export const OPERATOR = { email: 'bench@example.com', password: randomBytes(12).toString('base64url') };

export interface RunningProcess {
  readonly pid: number;
  /** What its ready line names. */
  readonly url: string;
}

/** Stores of their own and the API as it is built; the worker starts when it is told to. */
export interface ControlPlane {
  readonly api: RunningProcess;
  readonly rest: RestClient;
  readonly token: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly startWorker: () => Promise<RunningProcess>;
  readonly stop: () => Promise<void>;
}

/** @param withConsole builds the console as it is now, too */
export async function startControlPlane({ withConsole = false }: { readonly withConsole?: boolean } = {}): Promise<ControlPlane> {
  const root = process.cwd();
  const built = mkdtempSync(join(root, 'node_modules', '.bench-api-'));
  const ends: (() => Promise<unknown> | void)[] = [() => rmSync(built, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const { bundle } = (await import(pathToFileURL(join(root, 'tools/build.mjs')).href)) as { bundle: (options: object) => Promise<void> };
    const input = Object.fromEntries(['main', 'worker'].map((entry) => [entry, join(root, `apps/api/src/${entry}.ts`)]));
    await bundle({ input, tsconfig: join(root, 'apps/api/tsconfig.json'), outDir: built });
    if (withConsole) await promisify(execFile)(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', join(built, 'console'), '--logLevel', 'warn'], { cwd: join(root, 'apps/console') });
    const [postgres, redis] = await Promise.all([startPostgres({ migrationsDir: join(root, 'prisma/migrations') }), startRedis()]);
    ends.push(() => postgres.stop(), () => redis.stop());
    const token = randomBytes(24).toString('base64url');
    const settings = {
      DATABASE_URL: postgres.url, REDIS_URL: redis.url, QUOTAPLANE_HOST: '127.0.0.1', PORT: '0', QUOTAPLANE_BOOTSTRAP_TOKEN: token, QUOTAPLANE_CONSOLE_DIR: join(built, 'console'),
      QUOTAPLANE_ADMIN_EMAIL: OPERATOR.email, QUOTAPLANE_ADMIN_PASSWORD: OPERATOR.password, ...secrets(),
    };
    const start = (entry: string, ready: RegExp): Promise<RunningProcess> => startProcess(join(built, `${entry}.mjs`), settings, ready, (end) => ends.push(end));
    const api = await start('main', /The API listens on (http:\S+)/);
    return {
      api, token, stop, databaseUrl: postgres.url, redisUrl: redis.url, rest: new RestClient(api.url, token),
      startWorker: () => start('worker', /The worker publishes/),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const secrets = (): Record<string, string> =>
  Object.fromEntries(['QUOTAPLANE_TOKEN_PEPPER', 'QUOTAPLANE_SESSION_KEY', 'QUOTAPLANE_SIGNING_KEY'].map((name) => [name, randomBytes(32).toString('base64url')]));

function startProcess(path: string, env: Record<string, string>, ready: RegExp, onStarted: (end: () => Promise<void>) => void): Promise<RunningProcess> {
  const child = spawn(process.execPath, [path], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  onStarted(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  });
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new RangeError(`${path} is not ready: ${output}`)), START_LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        output += String(piece);
        if (/WARN|ERROR/.test(String(piece))) process.stderr.write(String(piece));
        const found = ready.exec(output);
        if (found === null) return;
        clearTimeout(timer);
        resolve({ pid: child.pid ?? 0, url: found[1] ?? '' });
      });
    }
    child.once('exit', (code) => reject(new RangeError(`${path} ended with ${code}: ${output}`)));
  });
}
