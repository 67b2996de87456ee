import { COUNTER_FIELDS } from '@quotaplane/contracts';
import type { FieldDifference } from '../../../format/json-diff';

export const NEW_COUNTER = 'new counter: everyone’s count begins anew';

/** Marks what begins a new counter: a changed field of a limit that was there before and stays. */
export function withNewCounters(differences: readonly FieldDifference[]): FieldDifference[] {
  const comesOrGoes = new Set(
    differences.flatMap(({ path: [list, name, field], before, after }) =>
      list === 'limits' && field === 'algorithm' && (before === undefined || after === undefined) ? [name] : [],
    ),
  );
  return differences.map((difference) => {
    const [list, name, field, ...rest] = difference.path;
    const isOfKey = list === 'limits' && field !== undefined && rest.length === 0 && COUNTER_FIELDS.includes(field);
    return isOfKey && !comesOrGoes.has(name) ? { ...difference, note: NEW_COUNTER } : difference;
  });
}
