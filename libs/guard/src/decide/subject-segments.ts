import { subjectField, type CompiledLimit, type OverridableScope, type Segment, type SubjectLimit, type SubjectPolicy } from '@quotaplane/contracts';
import { subjectOf, type Call } from './call';

/** One stretch of a single subject's own timeline. */
export type SubjectSegment = SubjectPolicy['segments'][number];

/** Fields of the tenant's subject overrides that this call has a subject for; most calls of most tenants have none. */
export function subjectFieldsOf(call: Call, scopes: readonly OverridableScope[]): string[] {
  const fields: string[] = [];
  for (const scope of scopes) {
    const subject = subjectOf(call, scope);
    if (subject) fields.push(subjectField(scope, subject));
  }
  return fields;
}

/** The stretch around an instant, or the nearest one, as for a tenant's own segments. */
export function nearestStretch({ segments }: SubjectPolicy, nowMs: number): SubjectSegment | undefined {
  const first = segments[0];
  if (first && nowMs < first.fromMs) return first;
  return segments.find(({ untilMs }) => nowMs < untilMs) ?? segments.at(-1);
}

const merged = new WeakMap<SubjectSegment, WeakMap<Segment, Segment>>();

/**
 * A tenant's segment with one subject's own numbers in it: they replace the limit's for the limits of that scope, within the stretch that both
 * timelines share. The same object for the same two, so that plans and counter names hang on it as on any segment.
 */
export function segmentFor(segment: Segment, scope: string, own: SubjectSegment): Segment {
  let ofOwn = merged.get(own);
  if (!ofOwn) merged.set(own, (ofOwn = new WeakMap()));
  let both = ofOwn.get(segment);
  if (!both) ofOwn.set(segment, (both = merge(segment, scope, own)));
  return both;
}

function merge(segment: Segment, scope: string, { fromMs, untilMs, limits }: SubjectSegment): Segment {
  const ownNumbers = (limit: CompiledLimit): SubjectLimit | undefined => (limit.scope === scope ? limits.find(({ name }) => name === limit.name) : undefined);
  return {
    ...segment,
    fromMs: Math.max(segment.fromMs, fromMs),
    untilMs: Math.min(segment.untilMs, untilMs),
    limits: segment.limits.map((limit) => withNumbers(limit, ownNumbers(limit))),
  };
}

function withNumbers(limit: CompiledLimit, own: SubjectLimit | undefined): CompiledLimit {
  if (!own) return limit;
  return { ...limit, limit: own.limit, burst: own.burst, sources: own.sources, ...(own.maxQueue === undefined ? {} : { maxQueue: own.maxQueue }) };
}
