import type { CompiledLimit, Policy } from '@quotaplane/contracts';
import { KnownPolicies } from '../decide/known-policy';

/** Slug of the class that early limits name, and of the calls they judge. */
export const EARLY_CLASS = 'early';

const reduced = new WeakMap<Policy, Policy>();

/** Reads policies as the early hook knows them: limits of class `early` that count by address or globally, and nothing else. */
export class EarlyPolicies extends KnownPolicies {
  protected override partOf(policy: Policy): Policy {
    return earlyPartOf(policy);
  }
}

/** The same object for the same policy, since plans are kept by segment. */
function earlyPartOf(policy: Policy): Policy {
  let part = reduced.get(policy);
  if (!part) reduced.set(policy, (part = { ...policy, segments: policy.segments.map((segment) => ({ ...segment, limits: segment.limits.filter(isEarly), quotas: [] })) }));
  return part;
}

function isEarly({ endpointClass, scope }: CompiledLimit): boolean {
  return endpointClass === EARLY_CLASS && (scope === 'ip' || scope === 'global');
}
