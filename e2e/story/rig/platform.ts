import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runScript, untilReady, type RunningScript } from './child-process';
import { ControlPlane } from './control-plane';

/** The promise of the product is 120 s from a cold start. */
const READY_LIMIT_MS = 120_000;
const CLOCK_PRELOAD = new URL('clock-shift.mjs', import.meta.url).href;

export interface Echo {
  readonly url: string;
  readonly script: RunningScript;
  /** What it has logged so far. */
  log(): Promise<string>;
  /** Ends it; answers its exit code. */
  stop(): Promise<number | null>;
}

export interface Platform {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly echoUrl: string;
  /** The admin token that the start made, as a person would find it. */
  readonly token: string;
  readonly script: RunningScript;
  readonly control: ControlPlane;
  /** What the echo of this start has logged so far. */
  echoLog(): Promise<string>;
  stop(): Promise<number | null>;
}

/** A folder for a start of its own. */
export async function freshDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quotaplane-story-'));
  // Root's Postgres runs as another user, who must be able to pass.
  await chmod(folder, 0o711);
  return folder;
}

/** `npm start` on free ports in a folder of its own. */
export async function startPlatform(env: NodeJS.ProcessEnv = {}): Promise<Platform> {
  const dataDir = await freshDataDir();
  const script = runScript('tools/start.mjs', { QUOTAPLANE_DATA_DIR: dataDir, PORT: '0', ECHO_PORT: '0', ...env });
  const stop = async (): Promise<number | null> => {
    const code = await script.end();
    await rm(dataDir, { recursive: true, force: true });
    return code;
  };
  try {
    await untilReady(script, READY_LIMIT_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  const [, apiUrl = '', echoUrl = ''] = /^Quotaplane (http:\S+) .*echo (http:[^\s,]+),/m.exec(script.output()) ?? [];
  const token = (await readFile(join(dataDir, 'secrets/bootstrap-token'), 'utf8')).trim();
  const echoLog = (): Promise<string> => readFile(join(dataDir, 'logs/echo-main.log'), 'utf8');
  return { dataDir, apiUrl, echoUrl, token, script, control: new ControlPlane(apiUrl, token), echoLog, stop };
}

/**
 * `npm run echo` once more.
 * @param env names the platform: its data folder, or its Redis
 * @param clockShiftMs how far the wall clock of that process is ahead; its monotonic clock is untouched
 */
export async function startEcho(env: NodeJS.ProcessEnv, clockShiftMs = 0): Promise<Echo> {
  const shift = clockShiftMs === 0 ? {} : { STORY_CLOCK_SHIFT_MS: String(clockShiftMs), NODE_OPTIONS: `--import ${CLOCK_PRELOAD}` };
  const script = runScript(fileURLToPath(new URL('../../../tools/echo.mjs', import.meta.url)), { ECHO_PORT: '0', ...shift, ...env });
  try {
    await untilReady(script, READY_LIMIT_MS);
  } catch (error) {
    await script.end();
    throw error;
  }
  const [, url = '', logFile = ''] = /^Echo (http:\S+), its log is (.+)$/m.exec(script.output()) ?? [];
  return { url, script, log: () => readFile(logFile, 'utf8'), stop: () => script.end() };
}
