import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { isAlive, isStampAlive, processStamp, startPostgresServer, unref, withFileLock } from '../../../tools/stores/index.mjs';

// Ends the cluster and removes its folder soon after the run's main process is gone, however it went.
// A process that ended but was not yet collected by its parent still answers to kill -0.
const CARETAKER = `
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
while alive $0; do sleep 0.25; done
kill -INT $1 2>/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do alive $1 || break; sleep 0.1; done
kill -KILL $1 2>/dev/null
rm -rf "$2"
`;

/**
 * The one Postgres cluster of this Vitest run, started by whichever spec file asks first.
 * Runs at the same time have one each; without Vitest the calling process is the run.
 */
export async function sharedClusterUrl(): Promise<string> {
  const home = join(tmpdir(), `quotaplane-test-${process.getuid?.() ?? 0}`);
  const mainPid = mainProcessPid();
  const folder = join(home, `run-${mainPid}`);
  await mkdir(folder, { recursive: true });
  // The server may run as another user, who must be able to pass.
  await Promise.all([chmod(home, 0o711), chmod(folder, 0o711)]);
  return withFileLock(join(home, `run-${mainPid}.lock`), async () => {
    const running = await readRunning(folder);
    if (running) return running;
    await removeDeadRuns(home);
    return startCluster(folder, mainPid);
  });
}

async function startCluster(folder: string, mainPid: number): Promise<string> {
  const server = await startPostgresServer({ dataDir: join(folder, 'cluster'), isThrowaway: true });
  const caretaker = spawn('sh', ['-c', CARETAKER, String(mainPid), String(server.pid), folder], { detached: true, stdio: 'ignore' });
  caretaker.unref();
  unref(server);
  const draft = join(folder, 'running.draft');
  await writeFile(draft, JSON.stringify({ url: server.url, main: processStamp(mainPid), server: processStamp(server.pid) }));
  await rename(draft, join(folder, 'running.json'));
  return server.url;
}

async function readRunning(folder: string): Promise<string | undefined> {
  const file = join(folder, 'running.json');
  if (!existsSync(file)) return undefined;
  const found: { url: string; main: string; server: string } = JSON.parse(await readFile(file, 'utf8'));
  // The folder's name is a pid, which an earlier run may have had too.
  return isStampAlive(found.main) && isStampAlive(found.server) ? found.url : undefined;
}

/** Folders whose caretaker was killed too. */
async function removeDeadRuns(home: string): Promise<void> {
  const dead = readdirSync(home).filter((name) => /^run-\d+/.test(name) && !isAlive(Number.parseInt(name.slice(4), 10)));
  await Promise.all(dead.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

/** Vitest's forks have the main process as parent; its threads run inside it. */
function mainProcessPid(): number {
  const isFork = process.env.VITEST_WORKER_ID !== undefined && isMainThread;
  return isFork ? process.ppid : process.pid;
}
