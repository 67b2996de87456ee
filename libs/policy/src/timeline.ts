import type { Policy, Segment } from '@quotaplane/contracts';

/**
 * The stretch of the timeline that holds `nowMs` (store time), by binary search.
 * Undefined before the first and past the last segment: the tenant is then `wanted`. Allocates nothing.
 */
export function segmentAt(policy: Policy, nowMs: number): Segment | undefined {
  const { segments } = policy;
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
