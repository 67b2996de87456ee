import fc from 'fast-check';
import { parseList as referenceParse, serializeList, Token, type Item } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { parseList } from './structured-list';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 12 });
const bare = fc.oneof(printable, fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 1000), fc.boolean(),
  fc.stringMatching(/^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]{0,8}$/).map((text) => new Token(text)), fc.uint8Array({ maxLength: 9 }));
const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,6}$/);
const list = fc.array(fc.tuple(bare, fc.uniqueArray(fc.tuple(key, bare), { selector: ([name]) => name, maxLength: 4 })), { maxLength: 4 });

/** As this parser tells a value. */
const told = (value: unknown): unknown => (value instanceof Uint8Array ? base64(value) : value instanceof ArrayBuffer ? base64(new Uint8Array(value)) : value instanceof Token ? value.toString() : value);

describe('the list parser', () => {
  it('reads all that the reference serializer writes', () => {
    fc.assert(fc.property(list, (members) => {
      const items = members.map(([value, parameters]): Item => [asSent(value), new Map(parameters.map(([name, parameter]) => [name, asSent(parameter)]))]);
      const expected = members.map(([value, parameters]) => ({ value: told(value), parameters: new Map(parameters.map(([name, parameter]) => [name, told(parameter)])) }));
      expect(parseList(serializeList(items))).toEqual(expected);
    }));
  });

  it('refuses whatever the reference parser refuses, but for forms that no limit uses', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'"a1;=,: ?.\\-%'), maxLength: 14 }), (text) => {
      const known = isAccepted(text);
      if (!known) expect(parseList(text)).toEqual([]);
    }), { numRuns: 2000 });
  });

  it.each(['', null, undefined, '   '])('reads no members in %j', (field) => {
    expect(parseList(field)).toEqual([]);
  });

  it.each(['"a', '"a";r=', '"a",', ',"a"', '"a" "b"', '"a";R=1', '"a";r=1234567890123456', ':1:', '"a";pk=:a=b=:', '"\u00e9"', '"a"; r=1 ,, "b"'])('is worth nothing as a whole when it is malformed: %s', (field) => {
    expect(parseList(field)).toEqual([]);
  });
});

const asSent = (value: unknown): string | number | boolean | Token | ArrayBuffer =>
  (value instanceof Uint8Array ? Uint8Array.from(value).buffer : value) as string | number | boolean | Token | ArrayBuffer;

function isAccepted(text: string): boolean {
  try {
    referenceParse(text);
    return true;
  } catch {
    return false;
  }
}
