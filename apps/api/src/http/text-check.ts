import type { FieldError } from '@quotaplane/contracts';
import { pointerTo } from './field-errors';

/** No contract nests deeper; a body that does is an attack on recursion. */
const MAX_DEPTH = 32;

/**
 * Finds text that Postgres cannot keep as it is: U+0000 and lone surrogates, in values and in names. Also nesting past any contract.
 * @param at pointer of `value`
 */
export function unstorableText(value: unknown, at: string, depth = 0): FieldError[] {
  if (typeof value === 'string') {
    return isStorable(value) ? [] : [{ pointer: at, detail: 'must be text without U+0000 and without lone surrogates' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (depth >= MAX_DEPTH) return [tooDeep(at)];
  return Object.entries(value).flatMap(([name, member]) => {
    const pointer = pointerTo(at, [name]);
    return isStorable(name) ? unstorableText(member, pointer, depth + 1) : [{ pointer, detail: 'must be a name without U+0000 and without lone surrogates' }];
  });
}

/** The nesting alone, for a body whose items are judged one by one. */
export function excessiveNesting(value: unknown, at: string, depth = 0): FieldError[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth >= MAX_DEPTH) return [tooDeep(at)];
  // Pointers are made where there is something to point at: a body may have a hundred thousand members.
  return Object.entries(value).flatMap(([name, member]) => (typeof member === 'object' ? excessiveNesting(member, pointerTo(at, [name]), depth + 1) : []));
}

const tooDeep = (pointer: string): FieldError => ({ pointer, detail: `must not be nested deeper than ${MAX_DEPTH} levels` });

export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}
