import type { Policy, Segment, SubjectPolicy } from '@quotaplane/contracts';

/**
 * The stretch of the timeline that holds `nowMs` (store time), by binary search.
 * Undefined before the first and past the last segment: the tenant is then `wanted`. Allocates nothing.
 */
export const segmentAt = (policy: Policy, nowMs: number): Segment | undefined => stretchAt(policy.segments, nowMs);

/** The same for the overrides of a single subject, whose stretches have bounds of their own: work within the intersection with the tenant's. */
export const subjectSegmentAt = (subject: SubjectPolicy, nowMs: number): SubjectPolicy['segments'][number] | undefined => stretchAt(subject.segments, nowMs);

function stretchAt<Stretch extends { readonly fromMs: number; readonly untilMs: number }>(segments: readonly Stretch[], nowMs: number): Stretch | undefined {
  let low = 0;
  let high = segments.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const segment = segments[middle];
    if (segment === undefined) return undefined;
    if (nowMs < segment.fromMs) high = middle - 1;
    else if (nowMs >= segment.untilMs) low = middle + 1;
    else return segment;
  }
  return undefined;
}
