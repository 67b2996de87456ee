import type { Segment, SubjectPolicy } from '@quotaplane/contracts';
import { nearestStretch, segmentFor } from './subject-segments';

/** What this node knows of single subjects' overrides, by tenant and field; learnt from stale answers. */
export interface KnownSubjects {
  /** Under this head: null where the subject has none, undefined where nobody asked yet. */
  get(tenant: string, head: string, field: string): SubjectPolicy | null | undefined;
  /** Under whatever head was seen last. */
  last(tenant: string, field: string): SubjectPolicy | null | undefined;
  accept(tenant: string, fields: readonly string[], answer: { readonly head: string; readonly subjects: readonly (string | null)[] }): void;
}

/** Puts the overrides of a call's own key, user and address into its tenant's segment. */
export class SubjectOverrides {
  constructor(private readonly subjects: KnownSubjects) {}

  /** @returns 'unknown' where the store has to be asked first */
  segmentOf(tenant: string, fields: readonly string[], head: string, segment: Segment, nowMs: number): Segment | 'unknown' {
    let found = segment;
    for (const field of fields) {
      const own = this.subjects.get(tenant, head, field);
      if (own === undefined) return 'unknown';
      found = withOwn(found, field, own, nowMs);
    }
    return found;
  }

  /** By the last known ones: while the store is away nobody can say more. */
  lastSegmentOf(tenant: string, fields: readonly string[], segment: Segment, nowMs: number): Segment {
    return fields.reduce((found, field) => withOwn(found, field, this.subjects.last(tenant, field) ?? null, nowMs), segment);
  }

  accept(...learnt: Parameters<KnownSubjects['accept']>): void {
    this.subjects.accept(...learnt);
  }
}

function withOwn(segment: Segment, field: string, own: SubjectPolicy | null, nowMs: number): Segment {
  const stretch = own && nearestStretch(own, nowMs);
  return stretch ? segmentFor(segment, field.slice(0, field.indexOf(':')), stretch) : segment;
}
