import { formatUtc } from './time';

/** A value of an audit entry or a tier version. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json | undefined };

export interface FieldDifference {
  /** Members on the way, named lists keyed by their name: `limits · per-minute · burst`. */
  readonly path: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** What the change means, where the fields do not tell. */
  readonly note?: string;
}

/** Bookkeeping members that change with every edit and say nothing. */
const SILENT = new Set(['version', 'updatedAt']);

/** Every leaf that differs, in the order of the later value. */
export function diffJson(before: Json | undefined, after: Json | undefined, path: readonly string[] = []): FieldDifference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [left, right] = [membersOf(before), membersOf(after)];
  if (!left || !right) {
    // A created or deleted entity is shown field by field; a whole value replaced by another kind is one line.
    if ((left && isAbsent(after)) || (right && isAbsent(before))) {
      const present = left ?? right ?? {};
      return Object.keys(present)
        .filter((name) => !SILENT.has(name) && !isAbsent(present[name]))
        .flatMap((name) => (left ? diffJson(left[name], undefined, [...path, name]) : diffJson(undefined, right?.[name], [...path, name])));
    }
    return isAbsent(before) && isAbsent(after) ? [] : [{ path, before, after }];
  }
  const names = [...new Set([...Object.keys(right), ...Object.keys(left)])];
  return names.filter((name) => !SILENT.has(name)).flatMap((name) => diffJson(left[name], right[name], [...path, name]));
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Members of an object, or of a list of things that carry a name; undefined for leaves. */
function membersOf(value: Json | undefined): Record<string, Json | undefined> | undefined {
  if (value === undefined || value === null || typeof value !== 'object') return undefined;
  if (!Array.isArray(value)) return value;
  const keyed = value.map((item) => [nameOf(item), item] as const);
  if (value.length === 0 || keyed.some(([name]) => name === undefined)) return undefined;
  return Object.fromEntries(keyed);
}

function nameOf(item: Json): string | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  const name = item['name'] ?? item['meter'];
  return typeof name === 'string' ? name : undefined;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** A leaf for people: figures grouped, instants in UTC, absence as a dash. */
export function showJson(value: Json | undefined): string {
  if (value === undefined) return '–';
  if (value === null) return 'none';
  if (typeof value === 'number') return new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 }).format(value);
  if (typeof value === 'string') return INSTANT.test(value) ? formatUtc(value) : value;
  return JSON.stringify(value);
}
