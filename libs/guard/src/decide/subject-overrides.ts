import type { Segment, SubjectPolicy } from '@quotaplane/contracts';
import type { StaleAnswer, SubjectCache } from '@quotaplane/policy';
import { nearestStretch, segmentFor } from './subject-segments';

/** Tenants whose last heads are remembered; past it all are forgotten, which costs an outage its older overrides and nothing else. */
const TENANTS_MAX = 10_000;

/** The head that a tenant's subjects were last asked for under, and the one before. */
interface Heads {
  current: string;
  before: string | undefined;
}

/** Puts the overrides of a call's own key, user and address into its tenant's segment. */
export class SubjectOverrides {
  private readonly heads = new Map<string, Heads>();

  constructor(
    private readonly cache: Pick<SubjectCache, 'get' | 'accept'>,
    private readonly wanted: { want(member: `tenant:${string}`): void },
  ) {}

  /** @returns 'unknown' where the store has to be asked first */
  segmentOf(tenant: string, fields: readonly string[], head: string, segment: Segment, nowMs: number): Segment | 'unknown' {
    this.meet(tenant, head);
    let found = segment;
    for (const field of fields) {
      const own = this.cache.get(tenant, head, field);
      if (own === undefined) return 'unknown';
      found = withOwn(found, field, own, nowMs);
    }
    return found;
  }

  /** By the last known ones, under this head or the one before: while the store is away nobody can say more. */
  lastSegmentOf(tenant: string, fields: readonly string[], head: string, segment: Segment, nowMs: number): Segment {
    const known = this.heads.get(tenant);
    const before = known?.current === head ? known.before : known?.current;
    return fields.reduce((found, field) => {
      const own = this.cache.get(tenant, head, field);
      const last = own === undefined && before !== undefined ? this.cache.get(tenant, before, field) : own;
      return withOwn(found, field, last ?? null, nowMs);
    }, segment);
  }

  /** Takes what a stale answer says of the fields that were asked for with it. */
  accept(tenant: string, fields: readonly string[], { head, subjects }: StaleAnswer): void {
    fields.forEach((field, index) => {
      if (this.cache.accept(tenant, head, field, subjects?.[index] ?? null) === 'lost') this.wanted.want(`tenant:${tenant}`);
    });
  }

  private meet(tenant: string, head: string): void {
    const known = this.heads.get(tenant);
    if (known?.current === head) return;
    if (known) {
      known.before = known.current;
      known.current = head;
      return;
    }
    if (this.heads.size >= TENANTS_MAX) this.heads.clear();
    this.heads.set(tenant, { current: head, before: undefined });
  }
}

function withOwn(segment: Segment, field: string, own: SubjectPolicy | null, nowMs: number): Segment {
  const stretch = own && nearestStretch(own, nowMs);
  return stretch ? segmentFor(segment, field.slice(0, field.indexOf(':')), stretch) : segment;
}
