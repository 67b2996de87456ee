import type { FieldError, OverrideSet, TierContent } from '@quotaplane/contracts';
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

/** What is wrong with a set against the tier it changes, with pointers into the body; empty when it fits. */
export const overrideSetErrors = (set: OverrideSet, content: TierContent): FieldError[] =>
  overrideFits(set, content).map(({ path, message }) => ({ pointer: pointerTo('/set', path), detail: message }));

/** Limits and quotas that a set names and a tier lacks: limits by name, quotas as `quotas/<meter>`. */
export const danglingNames = (set: OverrideSet, content: TierContent): string[] => [
  ...Object.keys(set.limits ?? {}).filter((name) => !content.limits.some((limit) => limit.name === name)),
  ...Object.keys(set.quotas ?? {}).filter((meter) => !content.quotas.some((quota) => quota.meter === meter)).map((meter) => `quotas/${meter}`),
];

/** What is wrong with a span: it must have an end after its start, and one that is still to come. */
export const spanErrors = ({ from, until }: Pick<OverrideSpan, 'from' | 'until'>, now: Date): FieldError[] => {
  if (until === null) return [];
  if (until <= now) return [{ pointer: '/until', detail: 'must be in the future' }];
  return until <= from ? [{ pointer: '/until', detail: 'must be after from' }] : [];
};

