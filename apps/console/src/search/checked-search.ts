/** Reads one value of the URL; undefined when it does not fit. */
export type Reader<T> = (value: unknown) => T | undefined;
type Read<Readers> = { readonly [Name in keyof Readers]?: Readers[Name] extends Reader<infer T> ? T | undefined : never };

/** Search parameters by name, as a route and its page read them. */
export interface CheckedSearch<Readers> {
  /** What fits; what does not is undefined, what is not named is dropped. Never throws. */
  readonly parse: (raw: Readonly<Record<string, unknown>>) => Read<Readers>;
}
export type SearchOf<Search> = Search extends CheckedSearch<infer Readers> ? Read<Readers> : never;

/**
 * Checks what stands in the URL. Without the schema library, because routes are matched before anything else is loaded; words and patterns
 * are the contract's own (contract.facts.ts).
 */
export function checkedSearch<Readers extends Readonly<Record<string, Reader<unknown>>>>(readers: Readers): CheckedSearch<Readers> {
  return {
    parse: (raw) => {
      const known = Object.entries(readers).filter(([name]) => name in raw);
      return asRead<Readers>(Object.fromEntries(known.map(([name, read]) => [name, read(raw[name])])));
    },
  };
}

/** Text of 1 to `length` characters. */
export const text =
  (length: number): Reader<string> =>
  (value) =>
    typeof value === 'string' && value !== '' && value.length <= length ? value : undefined;

/** Text of at most `length` characters; empty counts. */
export const maybeText =
  (length: number): Reader<string> =>
  (value) =>
    typeof value === 'string' && value.length <= length ? value : undefined;

/** Text that fits a pattern, and no longer than `length` characters. */
export function matching(pattern: string, length = 200): Reader<string> {
  const shape = new RegExp(pattern, 'su');
  return (value) => (typeof value === 'string' && value.length <= length && shape.test(value) ? value : undefined);
}

export const oneOf =
  <const T extends string | number>(words: readonly T[]): Reader<T> =>
  (value) =>
    words.find((word) => word === value);

/** A date of the calendar, `2026-03-31`. */
export const day: Reader<string> = (value) => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return undefined;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) ? value : undefined;
};

/** The first reader that takes it. */
export const either =
  <A, B>(one: Reader<A>, other: Reader<B>): Reader<A | B> =>
  (value) =>
    one(value) ?? other(value);

/** Several values under one name, all of them or none. */
export function together<Readers extends Readonly<Record<string, Reader<unknown>>>>(readers: Readers): Reader<Required<Defined<Read<Readers>>>> {
  const { parse } = checkedSearch(readers);
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const found = parse({ ...value });
    return Object.keys(readers).every((name) => asRecord(found)[name] !== undefined) ? (found as Required<Defined<Read<Readers>>>) : undefined;
  };
}
type Defined<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> };

const asRecord = (value: object): Readonly<Record<string, unknown>> => ({ ...value });

/** Each member was made by the reader of its own name. */
function asRead<Readers>(values: Record<string, unknown>): Read<Readers> {
  return values as Read<Readers>;
}
