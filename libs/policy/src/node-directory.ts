import type { Heartbeat } from '@quotaplane/contracts';
import { EverySecond } from './every-second';
import { liveNodes, readNodes } from './nodes';
import type { PolicyRedis } from './policy-redis';
import type { OnStoreError } from './store-errors';

export interface NodeDirectoryOptions {
  readonly redis: PolicyRedis;
  /** Limits are shared among nodes of this kind. */
  readonly kind: Heartbeat['kind'];
  /** Divides limits until the store has been seen once; 1 or more. */
  readonly expectedNodes: number;
  readonly onError?: OnStoreError;
}

/** A node missing from this many readings in a row has gone; a store that came back empty lists nobody at first. */
const MISSES_UNTIL_GONE = 5;

/** The remembered, sorted list of live nodes: among whom a limit is shared while the store is away. It stands still while nobody can read it. */
export class NodeDirectory {
  private readonly ticks = new EverySecond(() => this.refresh());
  private readonly misses = new Map<string, number>();
  private sorted: readonly string[] = [];

  constructor(private readonly options: NodeDirectoryOptions) {}

  /** Reads now and then each second. Resolves also when the store is away. */
  start(): Promise<void> {
    return this.ticks.start();
  }

  stop(): void {
    this.ticks.stop();
  }

  /** Incarnations, sorted; empty when the store was never seen. */
  get incarnations(): readonly string[] {
    return this.sorted;
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    try {
      const { nodes, nowMs } = await readNodes(this.options.redis);
      this.remember(liveNodes(nodes, nowMs).filter((node) => node.kind === this.options.kind).map((node) => node.incarnation));
    } catch (error) {
      this.options.onError?.(error, 'node-directory');
    }
  }

  /**
   * This node's share of a limit in whole units: the floor, and one more for the first nodes of the list until the remainder is spent,
   * so that all shares together are the limit and never more. A node that is not on the list counts as one more and gets the floor.
   */
  shareOf(limit: number, incarnation: string): number {
    if (this.sorted.length === 0) return Math.floor(limit / Math.max(1, this.options.expectedNodes));
    const place = this.sorted.indexOf(incarnation);
    if (place === -1) return Math.floor(limit / (this.sorted.length + 1));
    const floor = Math.floor(limit / this.sorted.length);
    return floor + (place < limit - floor * this.sorted.length ? 1 : 0);
  }

  private remember(heard: readonly string[]): void {
    for (const [incarnation, misses] of this.misses) this.misses.set(incarnation, misses + 1);
    for (const incarnation of heard) this.misses.set(incarnation, 0);
    for (const [incarnation, misses] of this.misses) if (misses >= MISSES_UNTIL_GONE) this.misses.delete(incarnation);
    this.sorted = [...this.misses.keys()].sort();
  }
}
