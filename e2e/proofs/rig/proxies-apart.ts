import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault } from '@quotaplane/testing';
import { rolldown } from 'rolldown';

/** Inside the workspace, so that the bundle finds the packages it leaves out; where no linter and no commit looks. */
const BUNDLES = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));

/** What the process of the proxies is told to do with the first so many of them. */
export interface ProxyOrder {
  readonly fault: Fault;
  readonly first: number;
  /** Resets their open connections, too. */
  readonly isCutting: boolean;
}

/**
 * Fault proxies in a process of their own. In that of a proof every reply of the store would wait until its clients have had their turn: 150 calls at
 * once take one longer than a guard waits for its store, and the proof would see an outage that it made itself.
 */
export interface ProxiesApart {
  readonly urls: readonly string[];
  /** @param first how many of them; all when left out */
  strike(fault: Fault, first?: number): Promise<void>;
  /** Ends the fault. A connection never goes on behind bytes that were lost, so all are cut. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export async function startProxiesApart(storeUrl: string, count: number): Promise<ProxiesApart> {
  await mkdir(BUNDLES, { recursive: true });
  const folder = await mkdtemp(join(BUNDLES, 'proxies-'));
  const file = join(folder, 'proxy-process.mjs');
  const bundle = await rolldown({
    input: fileURLToPath(new URL('./proxy-process.ts', import.meta.url)), platform: 'node', external: /^(?![./]|@quotaplane\/)/, logLevel: 'silent',
  });
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const child = fork(file, [storeUrl, String(count)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [urls] = (await once(child, 'message')) as [string[]];
  const order = async (fault: Fault, first: number, isCutting: boolean): Promise<void> => {
    const done = once(child, 'message');
    child.send({ fault, first, isCutting } satisfies ProxyOrder);
    await done;
  };
  return {
    urls,
    strike: (fault, first = count) => order(fault, first, false),
    heal: () => order({ kind: 'none' }, count, true),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
