import { parseHead, type Policy, type Segment } from '@quotaplane/contracts';
import { segmentAt, type CachedPolicy, type CatalogueCache, type PolicyCache } from '@quotaplane/policy';
import type { UsualCall } from './usual-call';

/** The policy that applies to a tenant as this node knows it, and the head to name in a check. The same object as long as all of it holds. */
export interface KnownPolicy {
  readonly head: string;
  readonly policy: Policy;
  /** Generation of the tenant's quota counters; undefined for unknown and deleted tenants, whose usage nobody is billed for. */
  readonly generation: number | undefined;
  /** Which of several readers of the cache made it. */
  readonly owner: object;
  /** What the tenant's last call was judged by; see usual-call. */
  usual: UsualCall | undefined;
}

/** Reads the caches: a tenant's own policy, or the fallback policy for one that the platform does not know. */
export class KnownPolicies {
  /** Of entries whose memo is that of another reader. */
  private readonly known = new WeakMap<CachedPolicy, KnownPolicy>();

  constructor(
    private readonly policies: Pick<PolicyCache, 'get'>,
    private readonly catalogue: Pick<CatalogueCache, 'fallback'>,
  ) {}

  /** Undefined: nothing is cached, so the check has to bring it. */
  cached(tenant: string): CachedPolicy | undefined {
    return this.policies.get(tenant);
  }

  /** Undefined: nothing is known, or the tenant falls back and the fallback policy was never seen. */
  of(tenant: string): KnownPolicy | undefined {
    const cached = this.policies.get(tenant);
    return cached && this.behind(cached);
  }

  /** What applies by an entry of the cache. */
  behind(cached: CachedPolicy): KnownPolicy | undefined {
    const { memo } = cached;
    const known = memo?.owner === this ? (memo as KnownPolicy) : this.known.get(cached);
    if (known !== undefined && cached.kind === 'policy') return known;
    const policy = cached.kind === 'policy' ? cached.policy : this.catalogue.fallback();
    if (policy === undefined) return undefined;
    const part = this.partOf(policy);
    if (known?.policy === part) return known;
    const generation = cached.kind === 'policy' ? parseHead(cached.head)?.generation : undefined;
    const made: KnownPolicy = { head: cached.head, policy: part, generation, owner: this, usual: undefined };
    if (memo === undefined || memo.owner === this) cached.memo = made;
    else this.known.set(cached, made);
    return made;
  }

  /** What of a policy counts here: the same object for the same policy. */
  protected partOf(policy: Policy): Policy {
    return policy;
  }
}

/** The segment around an instant, or the nearest one: a clock that is off, or a timeline that ran out, still finds rules to ask about. */
export function nearestSegment(policy: Policy, nowMs: number): Segment | undefined {
  const first = policy.segments[0];
  return segmentAt(policy, nowMs) ?? (first && nowMs < first.fromMs ? first : policy.segments.at(-1));
}
