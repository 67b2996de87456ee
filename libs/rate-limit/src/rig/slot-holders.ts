import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** What a process of holders is told to do: `inFlight` workers that each ask, hold for up to `mostHoldMs` and give back, over and over. */
export interface HolderOrder {
  readonly counter: string;
  readonly limit: number;
  readonly forMs: number;
  readonly inFlight: number;
  readonly mostHoldMs: number;
}

/** One slot, from its answer to its release, by the machine's monotonic clock. */
export interface HeldTime {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isLost: boolean;
}

export interface SlotHolder {
  work(order: HolderOrder): Promise<readonly HeldTime[]>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Bundled inside the workspace, so that the bundle finds the packages it leaves out. */
const HERE = fileURLToPath(new URL('../..', import.meta.url));

/** Processes that hold slots of one store. For specs. */
export const startSlotHolders = async (count: number, redisUrl: string, leaseMs: number): Promise<{ readonly holders: readonly SlotHolder[]; close(): Promise<void> }> => {
  const folder = await mkdtemp(join(HERE, '.hammer-'));
  const file = join(folder, 'slot-holder.mjs');
  const bundle = await rolldown({ input: fileURLToPath(new URL('./slot-holder.ts', import.meta.url)), platform: 'node', external: ['ioredis', 'zod'], logLevel: 'silent' });
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const children = await Promise.all(Array.from({ length: count }, async () => {
    const child = fork(file, [redisUrl, String(leaseMs)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    await once(child, 'message');
    return child;
  }));
  return {
    holders: children.map(holderOf),
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const holderOf = (child: ChildProcess): SlotHolder => ({
  async work(order) {
    const answer = once(child, 'message') as Promise<[HeldTime[]]>;
    child.send(order);
    return (await answer)[0];
  },
  async kill() {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  },
});

/** Most slots that were held at one instant, and when. */
export const mostHeld = (times: readonly HeldTime[]): { readonly count: number; readonly atMs: number } => {
  const events = times.flatMap(({ fromMs, untilMs }) => [{ atMs: fromMs, by: 1 }, { atMs: untilMs, by: -1 }]);
  // What ended at an instant is gone for what begins at it.
  events.sort((one, other) => one.atMs - other.atMs || one.by - other.by);
  let [held, most] = [0, { count: 0, atMs: 0 }];
  for (const { atMs, by } of events) {
    held += by;
    if (held > most.count) most = { count: held, atMs };
  }
  return most;
};
