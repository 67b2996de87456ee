import { randomBytes } from 'node:crypto';
import { FaultProxy, startPostgres } from '@quotaplane/testing';
import { runScript, ScriptEndedError, untilEnded, type RunningScript } from '../../story/rig/child-process';
import { ControlPlane } from '../../story/rig/control-plane';
import { until } from '../../story/rig/patience';
import { buildWithFailpoints, type FailpointBuild } from './failpoint-build';

const START_LIMIT_MS = 90_000;

/** A guarded service, or a worker, as a process that a proof may kill. */
export interface Process {
  readonly script: RunningScript;
  /** Of a guard. */
  readonly url: string;
}

/** The product's processes over stores that a proof may take away, each started by the proof alone. */
export interface Stack {
  readonly control: ControlPlane;
  /** What stands before Postgres; all processes connect through it. */
  readonly postgres: FaultProxy;
  startWorker(env?: NodeJS.ProcessEnv): Promise<Process>;
  startGuard(redisUrl?: string): Promise<Process>;
  /** Ends what still runs; stores that were given are left. */
  stop(): Promise<void>;
}

/** @param redisUrl of a Redis, or of what stands before one */
export async function startStack(redisUrl: string): Promise<Stack> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const build = await buildWithFailpoints();
    ends.push(() => build.remove());
    const database = await startPostgres();
    ends.push(() => database.stop());
    const postgres = await FaultProxy.start(database.url);
    ends.push(() => postgres.stop());
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redisUrl, QUOTAPLANE_HOST: '127.0.0.1', ...freshSecrets() };
    const children = new Set<RunningScript>();
    ends.push(() => Promise.all([...children].map((child) => child.end('SIGKILL'))));
    const start = startIn(build, children);
    await seed(build, env);
    const api = await start('api/main', { ...env, PORT: '0' }, /The API listens on (http:\S+)/);
    return {
      control: new ControlPlane(api.url, env.QUOTAPLANE_BOOTSTRAP_TOKEN), postgres, stop,
      startWorker: (more = {}) => start('api/worker', { ...env, ...more }, /The worker publishes/),
      startGuard: (guardRedisUrl = redisUrl) => start('echo/main', { REDIS_URL: guardRedisUrl, ECHO_PORT: '0' }, /echo listens on (http:[^\s"]+)/),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const secret = (): string => randomBytes(32).toString('base64url');
const freshSecrets = () => ({
  QUOTAPLANE_ADMIN_EMAIL: 'admin@example.com', QUOTAPLANE_ADMIN_PASSWORD: secret(), QUOTAPLANE_BOOTSTRAP_TOKEN: secret(), QUOTAPLANE_TOKEN_PEPPER: secret(),
  QUOTAPLANE_SESSION_KEY: secret(), QUOTAPLANE_SIGNING_KEY: secret(),
});

const startIn = (build: FailpointBuild, children: Set<RunningScript>) => async (entry: string, env: NodeJS.ProcessEnv, ready: RegExp): Promise<Process> => {
  const script = runScript(build.entry(entry), env);
  children.add(script);
  script.child.once('exit', () => children.delete(script));
  const [, url = ''] = await until(`the start of ${entry}`, START_LIMIT_MS, () => {
    if (script.hasEnded()) throw new ScriptEndedError(script.output());
    return ready.exec(script.output());
  });
  return { script, url };
};

async function seed(build: FailpointBuild, env: NodeJS.ProcessEnv): Promise<void> {
  const script = runScript(build.entry('api/seed'), { ...env, QUOTAPLANE_DEMO: '0' });
  const { code, lines } = await untilEnded(script, START_LIMIT_MS);
  if (code !== 0) throw new ScriptEndedError(lines.join('\n'));
}
