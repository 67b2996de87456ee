import { isInnerList, parseItem, parseList } from 'structured-headers';
import { headerOf, type Answer } from './http-call';

export interface LimitItem {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, unknown>;
}

/** The items of `RateLimit-Policy` or `RateLimit`, read by an RFC 9651 parser; throws on what is no list of strings. */
export function limitItems(answer: Pick<Answer, 'headers'>, field: 'RateLimit-Policy' | 'RateLimit'): LimitItem[] {
  return parseList(headerOf(answer, field)).map((item) => {
    if (isInnerList(item) || typeof item[0] !== 'string') throw new TypeError(`${field}: ${headerOf(answer, field)} is no list of strings`);
    return { name: item[0], parameters: item[1] };
  });
}

/** A field that is one whole number; throws on anything else, also when it is missing. */
export function wholeNumber(answer: Pick<Answer, 'headers'>, field: string): number {
  const [value] = parseItem(headerOf(answer, field));
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError(`${field}: "${headerOf(answer, field)}" is no whole number`);
  return value;
}

/** Limit and Remaining of the tightest limit, as clients steer by. */
export function tightest(answer: Pick<Answer, 'headers'>): { limit: number; remaining: number; resetS: number } {
  return { limit: wholeNumber(answer, 'RateLimit-Limit'), remaining: wholeNumber(answer, 'RateLimit-Remaining'), resetS: wholeNumber(answer, 'RateLimit-Reset') };
}

/** Capacity and what is left of one limit by its name, from the two structured fields; throws when an allowed answer does not list it. */
export function limitOf(answer: Pick<Answer, 'headers'>, name: string): { capacity: number; remaining: number } {
  const policy = limitItems(answer, 'RateLimit-Policy').find((item) => item.name === name)?.parameters;
  const state = limitItems(answer, 'RateLimit').find((item) => item.name === name)?.parameters;
  const capacity = policy?.get('qp-burst') ?? policy?.get('q');
  const remaining = state?.get('r');
  if (typeof capacity !== 'number' || typeof remaining !== 'number') throw new TypeError(`${name} is not in ${JSON.stringify(answer.headers)}`);
  return { capacity, remaining };
}
