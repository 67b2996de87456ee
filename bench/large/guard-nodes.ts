import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FeedEntry } from '@quotaplane/contracts';
import { ChangeFeed, followChanges, Heartbeat, PolicyCache, StoreClock } from '@quotaplane/policy';
import { Redis } from 'ioredis';

/** When each node had dropped what an entry of the feed names. */
interface Arrival {
  readonly entry: FeedEntry;
  readonly atMs: number[];
}

/** The control-plane side of some guards, each with its own connections, cache, feed and heartbeat: what a change has to reach. */
export class GuardNodes {
  private readonly arrivals = new Map<string, Arrival>();
  private waiting: (() => void)[] = [];

  private constructor(private readonly nodes: readonly { readonly policies: PolicyCache; readonly stop: () => Promise<void> }[]) {}

  static async start(redisUrl: string, count: number): Promise<GuardNodes> {
    const nodes: { policies: PolicyCache; stop: () => Promise<void> }[] = [];
    const all = new GuardNodes(nodes);
    for (let index = 0; index < count; index += 1) nodes.push(await all.startNode(redisUrl));
    return all;
  }

  get count(): number {
    return this.nodes.length;
  }

  /** Instants (`performance.now()`) at which the nodes had applied entries of a change, and the entry itself. */
  async applied(changeId: string, withinMs = 30_000): Promise<Arrival> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const arrival = this.arrivals.get(changeId);
      if (arrival !== undefined && arrival.atMs.length >= this.count) return arrival;
      if (performance.now() > untilMs) throw new RangeError(`change ${changeId} reached ${arrival?.atMs.length ?? 0} of ${this.count} nodes within ${withinMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        this.waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Numbers of one limit of a tenant as each node would enforce it with its next call. */
  async enforced(tenant: string, limitName: string): Promise<(number | null | undefined)[]> {
    return Promise.all(this.nodes.map(async ({ policies }) => {
      const known = policies.get(tenant);
      const answer = known === undefined || known.isStale ? await policies.load(tenant) : { status: 'loaded' as const, cached: known };
      if (answer.status !== 'loaded' || answer.cached.kind !== 'policy') return undefined;
      const nowMs = Date.now();
      const segment = answer.cached.policy.segments.find(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs);
      return segment?.limits.find(({ name }) => name === limitName)?.limit;
    }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async startNode(redisUrl: string): Promise<{ policies: PolicyCache; stop: () => Promise<void> }> {
    const connect = (): Redis => {
      const opened = new Redis(redisUrl);
      opened.on('error', () => undefined);
      return opened;
    };
    const redis = connect();
    const policies = new PolicyCache({ redis });
    const caches = { policies, keys: { drop: () => undefined, dropAll: () => undefined }, catalogue: { refresh: () => Promise.resolve() } };
    let fresh: FeedEntry[] = [];
    const follow = followChanges({ ...caches, applied: () => void heartbeat.beat() });
    const feed = new ChangeFeed({
      connect,
      handler: {
        entry: (entry, id) => {
          follow.entry(entry, id);
          fresh.push(entry);
        },
        gap: () => follow.gap(),
        applied: (position) => {
          follow.applied?.(position);
          this.note(fresh);
          fresh = [];
        },
      },
    });
    const heartbeat = new Heartbeat({
      redis, clock: new StoreClock(), position: () => feed.position, mode: () => 'healthy',
      node: { incarnation: randomUUID(), service: 'bench', kind: 'service', version: '0', host: hostname(), pid: process.pid, startedAtMs: Date.now() },
    });
    await feed.start();
    await heartbeat.start();
    return {
      policies,
      stop: async () => {
        await heartbeat.stop();
        await feed.stop();
        redis.disconnect();
      },
    };
  }

  private note(entries: readonly FeedEntry[]): void {
    const atMs = performance.now();
    const seen = new Set<string>();
    for (const entry of entries) {
      if (entry.changeId === '' || seen.has(entry.changeId)) continue;
      seen.add(entry.changeId);
      const arrival = this.arrivals.get(entry.changeId) ?? { entry, atMs: [] };
      arrival.atMs.push(atMs);
      this.arrivals.set(entry.changeId, arrival);
    }
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }
}
