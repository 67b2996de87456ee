import type { Heartbeat } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';

export interface NodeDirectoryOptions {
  readonly redis: Redis;
  /** Shares are cut among nodes of this kind. */
  readonly kind: Heartbeat['kind'];
  /** Divides limits until the store has been seen once. */
  readonly expectedNodes: number;
  readonly onError?: OnStoreError;
}

/** The remembered, sorted list of live nodes: who shares a limit while the store is away. */
export class NodeDirectory {
  constructor(private readonly options: NodeDirectoryOptions) {}
  start(): Promise<void> { throw new Error('not built'); }
  stop(): void { throw new Error('not built'); }
  refresh(): Promise<void> { throw new Error(String(this.options)); }
  /** Incarnations, sorted; empty when the store was never seen. */
  get incarnations(): readonly string[] { throw new Error('not built'); }
  /** This node's whole-unit share: the floor, and one more for the first nodes of the list until the remainder is spent. */
  shareOf(limit: number, incarnation: string): number { throw new Error(incarnation + limit); }
}
