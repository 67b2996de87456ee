import { describe, expect, it } from 'vitest';
import { SCRIPTS } from './scripts.generated';

const CALL = /\b(?:redis\.call|redis\.pcall|call|try)\((.*)/g;
/** What a command may name: a declared key, or a local that the script takes from KEYS (`key`, `base`, the columns by counter, the pairs of an MSET). */
const DECLARED = /^(?:KEYS\[[^\]]+\]|key|base|log\.key|slot_key\[slot\]|unpack\(KEYS, [^()]*\)|unpack\(pairs_to_set, 1, n\))$/;
const NO_KEY = new Set(['TIME']);

/** Comma-separated arguments on one line, up to the bracket that closes the call; enough for how our scripts are written. */
const argumentsOf = (text: string): string[] => {
  let [depth, argument] = [0, ''];
  const found: string[] = [];
  for (const letter of text) {
    if ('([{'.includes(letter)) depth += 1;
    if (')]}'.includes(letter)) depth -= 1;
    if (depth < 0) break;
    if (letter === ',' && depth === 0) {
      found.push(argument.trim());
      argument = '';
    } else argument += letter;
  }
  return [...found, argument.trim()];
};

describe.each(Object.entries(SCRIPTS))('C035 %s', (_, { source }) => {
  // Mutation: call('GET', 'qp:{' .. tenant .. '}:head').
  it('names no key that is not declared in KEYS', () => {
    const calls = [...source.matchAll(CALL)].map(([, text = '']) => argumentsOf(text)).filter(([command = '']) => !NO_KEY.has(command.replaceAll('\'', '')));
    expect(calls.length).toBeGreaterThan(0);
    for (const [command, key] of calls) expect(key, `key of ${command}`).toMatch(DECLARED);
    expect(source).not.toMatch(/qp:/);
  });

  // Mutation: make a key of other parts, such as local key = prefix .. name.
  it('takes every name from KEYS alone', () => {
    for (const [line, value] of source.matchAll(/\b(?:local key|local base|local key, [^=]*|slot_key\[slot\]|pairs_to_set\[[^\]]*\], pairs_to_set\[[^\]]*\]) *= *([^,\n]+)/g)) expect(value, line).toMatch(/^(?:KEYS\[.*|key)$/);
  });
});
