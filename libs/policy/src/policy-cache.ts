import { HEAD_DELETED, HEAD_UNKNOWN, parseHead, policySchema, redisKeys, type Policy } from '@quotaplane/contracts';
import { BoundedMap } from './bounded-map';
import { CoalescedLoads } from './coalesced-loads';
import { within } from './deadline';
import { reaches } from './head-order';
import { parseJson } from './parse-json';
import type { PolicyRedis } from './policy-redis';
import { SegmentSharing } from './segment-sharing';
import type { OnStoreError } from './store-errors';

/** What a stale answer of the check brings (M1); `subjects` are overrides of single subjects, not used by this release. */
export interface StaleAnswer {
  readonly head: string;
  readonly policy: string | null;
  readonly subjects?: readonly (string | null)[];
}

/** `isStale`: a change was named that this entry does not hold yet. It is still last known good: send its head, the check answers `stale`. */
export type CachedPolicy = (
  | { readonly kind: 'policy'; readonly head: string; readonly policy: Policy; readonly isStale: boolean }
  /** The fallback policy applies; `head` is what to send as the known head. */
  | { readonly kind: 'unknown' | 'deleted'; readonly head: string; readonly isStale: boolean }
) & {
  /** The reader's own: what it has worked out of this entry, and what gives that up when the entry goes. A look-up by the entry would cost a call more. */
  memo?: { readonly owner: object } | undefined;
};

/** `lost`: what the store holds is older than what this node has seen, or broken. Want the tenant and apply the fail mode. */
export type Accepted = 'accepted' | 'lost';

export type LoadAnswer =
  | { readonly status: 'loaded'; readonly cached: CachedPolicy }
  /** `absent`: no head, which only a loss of data explains. `lost`: as for accept, or below the head that was asked for. Want the tenant. */
  | { readonly status: 'absent' | 'lost' }
  | { readonly status: 'unavailable' };

export interface PolicyCacheOptions {
  readonly redis: PolicyRedis;
  /** Default 100,000. */
  readonly maxTenants?: number;
  readonly onError?: OnStoreError;
}

/** An entry as the cache keeps it: the marks change in place, so that `get` hands out one object and allocates nothing. */
type Entry = CachedPolicy & { isStale: boolean; staleHead: string };

/**
 * Policies of this node, parsed once, the last good one of each tenant kept while the store is away. The check's head decides what is
 * current (M1); the feed's drops only tell earlier.
 */
export class PolicyCache {
  private readonly entries: BoundedMap<Entry>;
  private readonly sharing = new SegmentSharing();
  private readonly loads = new CoalescedLoads<LoadAnswer>();

  constructor(private readonly options: PolicyCacheOptions) {
    this.entries = new BoundedMap(options.maxTenants ?? 100_000);
  }

  /** Undefined for a tenant never seen here. Allocates nothing. */
  get(tenant: string): CachedPolicy | undefined {
    return this.entries.get(tenant);
  }

  get size(): number {
    return this.entries.size;
  }

  /** Takes what the store holds, unless it is older than what this node holds; the entry then stays as it is. */
  accept(tenant: string, answer: StaleAnswer): Accepted {
    const before = this.entries.peek(tenant);
    if (answer.head === HEAD_UNKNOWN || answer.head === HEAD_DELETED) {
      // The worker writes `unknown` only where Postgres has no such tenant, so a policy we hold ends here too.
      this.entries.set(tenant, { kind: answer.head, head: answer.head, isStale: false, staleHead: '', memo: undefined });
      return 'accepted';
    }
    const named = parseHead(answer.head);
    if (named === null || answer.policy === null) return 'lost';
    if (before?.kind === 'policy' && !reaches(answer.head, before.head)) return 'lost';
    const policy = before?.kind === 'policy' && before.head === answer.head ? before.policy : this.parse(answer.policy);
    // Head and policy are written in one script: a pair that does not match is damage, not a version.
    if (policy === null || policy.tenant !== tenant || policy.revision !== named.revision) return 'lost';
    const staleHead = before?.isStale === true && before.staleHead !== '' && !reaches(answer.head, before.staleHead) ? before.staleHead : '';
    this.entries.set(tenant, { kind: 'policy', head: answer.head, policy, isStale: staleHead !== '', staleHead, memo: undefined });
    return 'accepted';
  }

  /**
   * Reads head and policy in one step, for warming up; never rejects. Callers at the same time share a read,
   * but one that began before a caller came serves it only if it reaches the head that the caller knows of.
   * @param atLeastHead a head that was published, such as a feed entry's revision
   */
  load(tenant: string, atLeastHead?: string): Promise<LoadAnswer> {
    return this.loads.load(
      tenant,
      () => this.read(tenant),
      (answer) => atLeastHead === undefined || answer.status !== 'loaded' || serves(answer.cached.head, atLeastHead),
      { status: 'lost' },
    );
  }

  /** A change was announced. The entry is marked, not removed: it is what stands if the store goes away now. */
  drop(tenant: string, head?: string): void {
    const entry = this.entries.peek(tenant);
    if (entry === undefined) return;
    const isKnownHead = head !== undefined && parseHead(head) !== null;
    if (isKnownHead && reaches(entry.head, head)) return;
    entry.isStale = true;
    if (isKnownHead && (entry.staleHead === '' || reaches(head, entry.staleHead))) entry.staleHead = head;
  }

  /** Changes were missed: every entry is asked for again. */
  dropAll(): void {
    for (const entry of this.entries.values()) entry.isStale = true;
  }

  /** Null for anything that is not a policy in this release's format. */
  private parse(text: string): Policy | null {
    const policy = parseJson(policySchema, text);
    return policy === null ? null : { ...policy, segments: this.sharing.share(policy.segments) };
  }

  private async read(tenant: string): Promise<LoadAnswer> {
    try {
      const reply = this.options.redis.mget(redisKeys.head(tenant), redisKeys.policy(tenant));
      const values = await within(reply, performance.now() + LOAD_PATIENCE_MS, null);
      if (values === null) return { status: 'unavailable' };
      const [head, policy] = values;
      if (head === null || head === undefined) return { status: 'absent' };
      if (this.accept(tenant, { head, policy: policy ?? null }) === 'lost') return { status: 'lost' };
      const cached = this.entries.peek(tenant);
      return cached === undefined ? { status: 'lost' } : { status: 'loaded', cached };
    } catch (error) {
      this.options.onError?.(error, 'policy-load');
      return { status: 'unavailable' };
    }
  }
}

/** Longest wait of a load, ms: a store that hangs must not hold later loads of the tenant back. */
const LOAD_PATIENCE_MS = 1_000;

/** A deleted or unknown tenant is a newer word than any revision. */
const serves = (head: string, wanted: string): boolean => parseHead(head) === null || reaches(head, wanted);
