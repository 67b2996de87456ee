import type { Heartbeat as HeartbeatWord } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { StoreClock } from './store-clock';
import type { OnStoreError } from './store-errors';

export type NodeIdentity = Pick<HeartbeatWord, 'incarnation' | 'service' | 'kind' | 'version' | 'host' | 'pid' | 'startedAtMs'>;

export interface HeartbeatOptions {
  readonly redis: Redis;
  readonly node: NodeIdentity;
  readonly clock: StoreClock;
  readonly position: () => string;
  readonly mode: () => HeartbeatWord['mode'];
  readonly onError?: OnStoreError;
}

/** This node's word in `qp:nodes`: each second, and at once after an applied feed entry. */
export class Heartbeat {
  constructor(private readonly options: HeartbeatOptions) {}
  /** First word, then one each second. Resolves also when the store is away. */
  start(): Promise<void> { throw new Error('not built'); }
  /** One word now. */
  beat(): Promise<void> { throw new Error(String(this.options)); }
  /** Takes this node off the list. */
  stop(): Promise<void> { throw new Error('not built'); }
}
