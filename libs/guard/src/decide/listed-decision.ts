import type { DecisionSource } from '@quotaplane/contracts';
import type { Call } from './call';
import { planOf } from './call-plan';
import type { GuardDecision } from './guard-decision';
import { nearestSegment, type KnownPolicy } from './known-policy';
import type { ListEntry } from './listed-callers';
import { blockedDecision, penalisedDecision } from './refusals';

interface Listed {
  readonly call: Call;
  readonly entry: ListEntry;
  /** Undefined while no policy was ever seen: the refusal then tells none. */
  readonly current: Pick<KnownPolicy, 'policy' | 'generation'> | undefined;
  readonly source: DecisionSource;
  readonly nowMs: number;
}

/** The refusal of a caller on the deny list, or under a penalty set by hand. */
export function refusedByList({ call, entry, current, source, nowMs }: Listed): GuardDecision {
  const policy = current?.policy;
  const segment = policy && nearestSegment(policy, nowMs);
  const facts = { call, plan: segment && planOf(segment, call), revision: policy?.revision ?? 0, generation: current?.generation, source, nowMs, untilMs: entry.untilMs };
  return entry.list === 'penalty' ? penalisedDecision(facts) : blockedDecision(facts);
}
