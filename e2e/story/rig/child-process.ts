import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startWatchdog } from '@quotaplane/testing';
import { until } from './patience';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Longest orderly end: the apps have 10 s, the stores after them as long. */
const STOP_LIMIT_MS = 30_000;
/** A test runner's own variables would make the product behave as under test. */
const RUNNER_VARIABLE = /^(NODE_ENV|NODE_OPTIONS|TEST|VITEST.*|DATABASE_URL|REDIS_URL|PORT|ECHO_PORT|QUOTAPLANE_(?!DIST_DIR$).*)$/;

export interface RunningScript {
  readonly child: ChildProcess;
  /** All it has printed so far, both streams. */
  output(): string;
  hasEnded(): boolean;
  /** Sends the signal and waits for the end; answers the exit code, null after a signal. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs a repository script as a person would from a shell; it also ends when this process dies without having ended it. */
export function runScript(path: string, env: NodeJS.ProcessEnv): RunningScript {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !RUNNER_VARIABLE.test(name)));
  const child = spawn(process.execPath, [path], { cwd: ROOT, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const watchdog = startWatchdog();
  if (child.pid) watchdog.addApp(child.pid);
  child.once('exit', () => watchdog.dismiss());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    output: () => output,
    hasEnded,
    end: async (signal = 'SIGTERM') => {
      if (hasEnded()) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(timer);
      return child.exitCode;
    },
  };
}

/** Waits until the script has printed the line `ready`; a script that ends before is an error with its output. */
export async function untilReady(script: RunningScript, limitMs: number): Promise<void> {
  await until('the line "ready"', limitMs, () => {
    if (script.hasEnded()) throw new ScriptEndedError(script.output());
    return /^ready$/m.test(script.output());
  });
}

/** A script ended that should have run on; the message is what it printed. */
export class ScriptEndedError extends Error {
  override readonly name = 'ScriptEndedError';
}

/** Waits for a script that ends by itself; answers its exit code and its lines on both streams. */
export async function untilEnded(script: RunningScript, limitMs: number): Promise<{ code: number | null; lines: string[] }> {
  await until('the end of the script', limitMs, () => script.hasEnded());
  // The pipes may hold the last words a moment longer than the process lives.
  await Promise.all([script.child.stdout, script.child.stderr].map((stream) => stream && !stream.closed && once(stream, 'close')));
  return { code: script.child.exitCode, lines: script.output().split('\n').filter((line) => line.trim() !== '') };
}
