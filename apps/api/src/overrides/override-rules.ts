import type { FieldError, OverrideSet, OverrideSubject, TierContent } from '@quotaplane/contracts';
import { overrideFits } from '@quotaplane/policy';
import { pointerTo } from '../http/field-errors';

/** When an override counts. */
export interface OverrideSpan {
  readonly from: Date;
  readonly until: Date | null;
  readonly revertedAt: Date | null;
}
export type OverrideState = 'scheduled' | 'active' | 'ended' | 'reverted';

/** By the clock alone; `reverted` by hand. `until` is exclusive. */
export const overrideStateAt = ({ from, until, revertedAt }: OverrideSpan, now: Date): OverrideState => {
  if (revertedAt !== null) return 'reverted';
  if (until !== null && until <= now) return 'ended';
  return from > now ? 'scheduled' : 'active';
};

type Scope = OverrideSubject['scope'];

/** What is wrong with a set against the tier it changes, with pointers into the body; empty when it fits. */
export const overrideSetErrors = (set: OverrideSet, content: TierContent, scope: Scope): FieldError[] => [
  ...overrideFits(set, content).map(({ path, message }) => ({ pointer: pointerTo('/set', path), detail: message })),
  ...(scope === 'tenant' ? [] : foreignScopeErrors(set, content, scope)),
];

/** A single subject's override changes what is counted for that subject alone: limits of its own scope, and nothing that the tenant shares. */
function foreignScopeErrors(set: OverrideSet, content: TierContent, scope: Scope): FieldError[] {
  const limits = content.limits.filter((limit) => Object.hasOwn(set.limits ?? {}, limit.name) && limit.scope !== scope);
  return [
    ...limits.map((limit) => ({ pointer: pointerTo('/set', ['limits', limit.name]), detail: `counts by ${limit.scope}; an override of one ${scope} names limits that count by ${scope}` })),
    ...(set.concurrency === undefined ? [] : [{ pointer: '/set/concurrency', detail: 'belongs to the whole tenant' }]),
    ...(set.quotas === undefined ? [] : [{ pointer: '/set/quotas', detail: 'belong to the whole tenant' }]),
  ];
}

/** Limits and quotas that a set names and a tier does not offer this scope: limits by name, quotas as `quotas/<meter>`. */
export const danglingNames = (set: OverrideSet, content: TierContent, scope: Scope): string[] => [
  ...Object.keys(set.limits ?? {}).filter((name) => !content.limits.some((limit) => limit.name === name && (scope === 'tenant' || limit.scope === scope))),
  ...Object.keys(set.quotas ?? {}).filter((meter) => !content.quotas.some((quota) => quota.meter === meter)).map((meter) => `quotas/${meter}`),
];

/** What is wrong with a span: it must have an end after its start, and one that is still to come. */
export const spanErrors = ({ from, until }: Pick<OverrideSpan, 'from' | 'until'>, now: Date): FieldError[] => {
  if (until === null) return [];
  if (until <= now) return [{ pointer: '/until', detail: 'must be in the future' }];
  return until <= from ? [{ pointer: '/until', detail: 'must be after from' }] : [];
};

