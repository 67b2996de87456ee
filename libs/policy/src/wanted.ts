import { redisKeys, WANTED_MAX } from '@quotaplane/contracts';
import type { PolicyRedis } from './policy-redis';
import { runScript } from './run-script';
import type { OnStoreError } from './store-errors';

export type WantedMember = `tenant:${string}` | `key:${string}` | 'classes' | 'fallback' | 'lists';

export interface WantedOptions {
  readonly redis: PolicyRedis;
  /** Most members of the set; WANTED_MAX by default. Past it a miss is dropped and asked again by the next call. */
  readonly maxMembers?: number;
  readonly monotonicNow?: () => number;
  readonly onError?: OnStoreError;
}

/** Asked for within this time by this node: not asked again, ms. */
const REPEAT_MS = 1_000;
/** Most members remembered as asked; past it all are forgotten, which costs a repeated SADD and nothing else. */
const MAX_REMEMBERED = 10_000;

/** The bounded set `qp:wanted` of what guards missed; the worker serves it first. */
export class Wanted {
  private readonly askedAtMs = new Map<string, number>();
  private readonly now: () => number;

  constructor(private readonly options: WantedOptions) {
    this.now = options.monotonicNow ?? (() => performance.now());
  }

  /** Fire and forget; the same member at most once a second from this node. */
  want(member: WantedMember): void {
    const nowMs = this.now();
    const askedAtMs = this.askedAtMs.get(member);
    if (askedAtMs !== undefined && nowMs - askedAtMs < REPEAT_MS) return;
    if (this.askedAtMs.size >= MAX_REMEMBERED) this.askedAtMs.clear();
    this.askedAtMs.set(member, nowMs);
    void this.add(member);
  }

  /** Worker side: removes and returns up to `count` members; rejects when the store is away. */
  async take(count: number): Promise<readonly WantedMember[]> {
    const members = await this.options.redis.spop(redisKeys.wanted, count);
    return members.filter(isWantedMember);
  }

  private async add(member: WantedMember): Promise<void> {
    try {
      await runScript(this.options.redis, 'want', [redisKeys.wanted], [member, this.options.maxMembers ?? WANTED_MAX]);
    } catch (error) {
      // Not asked after all: the next call may ask at once.
      this.askedAtMs.delete(member);
      this.options.onError?.(error, 'wanted');
    }
  }
}

/** Guards write this set, so the worker takes nothing else from it. */
function isWantedMember(member: string): member is WantedMember {
  return ['classes', 'fallback', 'lists'].includes(member) || /^tenant:[a-z0-9-]{1,63}$/.test(member) || /^key:[0-9a-f]{64}$/.test(member);
}
