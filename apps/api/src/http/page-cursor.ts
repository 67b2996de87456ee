import { DomainError, instant } from '@quotaplane/contracts';
import { z } from 'zod';
import { unstorableText } from './text-check';

/** The place of a row in a list's total order, last part unique: `[createdAt, id]` or `[slug]`. */
export type CursorKey = readonly (string | number)[];

/** A place in a list's order as callers send it back. */
export const cursorOf = (key: CursorKey): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/**
 * Reads `?cursor=` back into the order key it was made from.
 * @param shape a tuple schema, one part per order column
 * @returns undefined on the first page
 * @throws {DomainError} invalid, pointing to /query/cursor
 */
export function readCursor<T>(cursor: string | undefined, shape: z.ZodType<T>): T | undefined {
  if (cursor === undefined) return undefined;
  const key = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  const parsed = shape.safeParse(key);
  // Anyone can write a cursor: its text reaches Postgres as it is.
  if (parsed.success && unstorableText(key, '').length === 0) return parsed.data;
  throw new DomainError('invalid', 'The cursor is not one that this list gave out', {
    errors: [{ pointer: '/query/cursor', detail: 'must be the nextCursor of the page before' }],
  });
}

/** Order keys that most lists use. */
export const createdCursor = z.tuple([instant, z.uuid()]);
export const slugCursor = z.tuple([z.string().max(200)]);

/**
 * Rows behind a place in the order newest first. Says besides that they are no newer, which follows: an index is entered there, where it would else be read from its start.
 * @param column of the instant; the id is `id`
 */
export const olderThan = <C extends string>(column: C, [at, id]: readonly [string, string]) =>
  ({ AND: [{ [column]: { lte: at } }, { OR: [{ [column]: { lt: at } }, { id: { lt: id } }] }] });

/**
 * Cuts one page out of `limit + 1` rows read after the cursor; the row too many only tells that there is another page.
 * @param keyOf the order key of a row; the order must be total, or pages overlap (C074)
 */
export function pageOfRows<R, T>(rows: readonly R[], limit: number, keyOf: (row: R) => CursorKey, toItem: (row: R) => T): { items: T[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(toItem), nextCursor: rows.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
