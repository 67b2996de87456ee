import type { DecisionSource, Policy } from '@quotaplane/contracts';
import type { Call } from './call';
import { planOf } from './call-plan';
import type { GuardDecision } from './guard-decision';
import { nearestSegment } from './known-policy';
import type { ListEntry } from './listed-callers';
import { blockedDecision, penalisedDecision } from './refusals';

interface Listed {
  readonly call: Call;
  readonly entry: ListEntry;
  /** Undefined while none was ever seen: the refusal then tells no policy. */
  readonly policy: Policy | undefined;
  readonly source: DecisionSource;
  readonly nowMs: number;
}

/** The refusal of a caller on the deny list, or under a penalty set by hand. */
export function refusedByList({ call, entry, policy, source, nowMs }: Listed): GuardDecision {
  const segment = policy && nearestSegment(policy, nowMs);
  const facts = { call, plan: segment && planOf(segment, call), revision: policy?.revision ?? 0, source, nowMs, untilMs: entry.untilMs };
  return entry.list === 'penalty' ? penalisedDecision(facts) : blockedDecision(facts);
}
