import { redisKeys, type Heartbeat as HeartbeatWord } from '@quotaplane/contracts';
import { z } from 'zod';
import { EverySecond } from './every-second';
import type { PolicyRedis } from './policy-redis';
import { runScript } from './run-script';
import type { StoreClock } from './store-clock';
import type { OnStoreError } from './store-errors';

export type NodeIdentity = Pick<HeartbeatWord, 'incarnation' | 'service' | 'kind' | 'version' | 'host' | 'pid' | 'startedAtMs'>;

export interface HeartbeatOptions {
  /** Not the feed's connection, which blocks. */
  readonly redis: PolicyRedis;
  readonly node: NodeIdentity;
  /** Told of the store's time with every word. */
  readonly clock: Pick<StoreClock, 'observe'>;
  /** The change feed's position. */
  readonly position: () => string;
  readonly mode: () => HeartbeatWord['mode'];
  readonly onError?: OnStoreError;
}

const beatReply = z.tuple([z.int(), z.int()]);

/** This node's word in `qp:nodes`: each second, and at once after an applied feed entry (its receipt). */
export class Heartbeat {
  private readonly ticks = new EverySecond(() => this.beat());
  /** The position whose time of application the store has confirmed, and that time. */
  private confirmed = { position: '', appliedAtMs: 0 };
  private isStopped = false;

  constructor(private readonly options: HeartbeatOptions) {}

  /** First word, then one each second. Resolves also when the store is away. */
  start(): Promise<void> {
    return this.ticks.start();
  }

  /** One word now; never rejects. */
  async beat(): Promise<void> {
    if (this.isStopped) return;
    const { redis, node, clock, mode } = this.options;
    const position = this.options.position();
    const word: Omit<HeartbeatWord, 'seenAtMs' | 'appliedAtMs'> = { ...node, position, mode: mode() };
    const appliedAt = this.confirmed.position === position ? this.confirmed.appliedAtMs : '';
    try {
      const reply = await runScript(redis, 'beat', [redisKeys.nodes], [node.incarnation, JSON.stringify(word), appliedAt]);
      const [nowMs, appliedAtMs] = beatReply.parse(reply);
      clock.observe(nowMs);
      if (this.confirmed.position !== position) this.confirmed = { position, appliedAtMs };
    } catch (error) {
      this.options.onError?.(error, 'heartbeat');
    }
  }

  /** Takes this node off the list, so that its share goes to the others; never rejects. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.ticks.stop();
    try {
      await this.options.redis.hdel(redisKeys.nodes, this.options.node.incarnation);
    } catch (error) {
      this.options.onError?.(error, 'heartbeat');
    }
  }
}
