import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { HammerCount, HammerOrder } from './hammer-orders';

/** Inside the workspace, so that the bundle finds the packages it leaves out; where no linter and no commit looks. */
const BUNDLES = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

export interface HammerNode {
  order(order: Extract<HammerOrder, { kind: 'once' }>): Promise<HammerCount>;
  start(order: Extract<HammerOrder, { kind: 'for-ever' }>): void;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export interface HammerFleet {
  node(): Promise<HammerNode>;
  close(): Promise<void>;
}

/** Node processes for the specs that hold promises over several of them. */
export async function hammerFleet(redisUrl: string): Promise<HammerFleet> {
  await mkdir(BUNDLES, { recursive: true });
  const folder = await mkdtemp(join(BUNDLES, 'hammer-'));
  const file = join(folder, 'hammer-process.mjs');
  const bundle = await rolldown({ input: fileURLToPath(new URL('./hammer-process.ts', import.meta.url)), platform: 'node', external: ['ioredis', 'zod'], logLevel: 'silent' });
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const children = new Set<ChildProcess>();
  return {
    node: async () => {
      const child = fork(file, [redisUrl], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      children.add(child);
      await once(child, 'message');
      return {
        order: async (order) => {
          const answer = once(child, 'message') as Promise<[HammerCount]>;
          child.send(order);
          return (await answer)[0];
        },
        start: (order) => void child.send(order),
        kill: async () => {
          const exited = once(child, 'exit');
          child.kill('SIGKILL');
          await exited;
          children.delete(child);
        },
      };
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
