import { COUNTER_FIELDS, type FieldChange, type TierContent } from '@quotaplane/contracts';
import { canonicalJson } from '../http/canonical-json';

type Json = NonNullable<FieldChange['before']>;

/**
 * What changed between two versions, field by field. Limits and quotas are told by name and meter and not by place, so that moving one
 * is no change: `/limits/per-minute/burst`. A change of what a counter's key is made of says that everyone's count begins anew.
 */
export function diffContent(before: TierContent | null, after: TierContent): FieldChange[] {
  const changes: FieldChange[] = [];
  compare('', before === null ? undefined : byName(before), byName(after), changes);
  return changes;
}

function byName({ limits, quotas, ...rest }: TierContent): Json {
  return plain({
    ...rest,
    limits: Object.fromEntries(limits.map(({ name, ...limit }) => [name, limit])),
    quotas: Object.fromEntries(quotas.map(({ meter, ...quota }) => [meter, quota])),
  });
}

/** Exactly what JSON keeps of a value: no undefined members. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function compare(path: string, before: Json | undefined, after: Json | undefined, changes: FieldChange[]): void {
  if (isObject(before) && isObject(after)) {
    for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      compare(`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, before[name], after[name], changes);
    }
    return;
  }
  if (canonicalJson(before) === canonicalJson(after)) return;
  changes.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }), ...(isOfCounterKey(path) ? { newCounter: true } : {}) });
}

function isOfCounterKey(path: string): boolean {
  const [, list, , field, ...rest] = path.split('/');
  return list === 'limits' && field !== undefined && rest.length === 0 && COUNTER_FIELDS.includes(field);
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
