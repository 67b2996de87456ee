import type { OverrideSet } from '@quotaplane/contracts';
import { formatCount } from '../../../format/number';

/** The numbers of an override in words: `per-minute burst 60`. */
export function describeSet(set: OverrideSet): string[] {
  const limits = Object.entries(set.limits ?? {}).flatMap(([name, { limit, burst }]) => [
    ...(limit === undefined ? [] : [`${name} limit ${formatCount(limit)}`]),
    ...(burst === undefined ? [] : [`${name} burst ${formatCount(burst)}`]),
  ]);
  const quotas = Object.entries(set.quotas ?? {}).map(([meter, { allowance }]) => `${meter} ${formatCount(allowance)} per month`);
  return [...limits, ...quotas, ...(set.concurrency === undefined ? [] : [`${formatCount(set.concurrency)} in flight`])];
}
