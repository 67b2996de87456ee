import type { CompiledLimit, CompiledPeriod, CompiledQuota, Segment } from '@quotaplane/contracts';
import { BoundedMap } from './bounded-map';

/** Most distinct texts remembered of each kind; past it newcomers stand alone, which costs memory and nothing else. */
const MAX_SHARED = 5_000;

/** Hands out one object for all values with the same text. */
class Shared<Value> {
  private readonly byText = new BoundedMap<Value>(MAX_SHARED);

  of(text: string, make: () => Value): Value {
    const found = this.byText.get(text);
    if (found !== undefined) return found;
    const value = make();
    this.byText.set(text, value);
    return value;
  }
}

/**
 * Keeps equal limits, quotas and periods once. Most tenants of a tier differ in nothing but their name, and the months of a timeline in
 * nothing but their period: without sharing, 100,000 cached policies of 15 segments would fill gigabytes.
 * The segments themselves stay each tenant's own, so that a caller may hang what it knows of a tenant on them (WeakMap).
 */
export class SegmentSharing {
  private readonly limits = new Shared<CompiledLimit[]>();
  private readonly quotas = new Shared<CompiledQuota[]>();
  private readonly periods = new Shared<CompiledPeriod>();

  share(segments: readonly Segment[]): Segment[] {
    return segments.map((segment) => ({
      ...segment,
      limits: this.limits.of(JSON.stringify(segment.limits), () => segment.limits),
      quotas: this.quotas.of(JSON.stringify(segment.quotas), () => segment.quotas),
      period: this.periods.of(`${segment.period.id} ${segment.period.startMs} ${segment.period.endMs}`, () => segment.period),
    }));
  }
}
