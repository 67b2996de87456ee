import { expect, it } from 'vitest';
import { diffJson, showJson } from './json-diff';

it('finds the one number that changed in a named list', () => {
  const before = {
    limits: [
      { name: 'per-minute', limit: 100, burst: 20 },
      { name: 'search', limit: 5 },
    ],
    version: 1,
  };
  const after = {
    limits: [
      { name: 'search', limit: 5 },
      { name: 'per-minute', limit: 100, burst: 60 },
    ],
    version: 2,
  };
  expect(diffJson(before, after)).toEqual([{ path: ['limits', 'per-minute', 'burst'], before: 20, after: 60 }]);
});

it('lists every field of what was created and nothing empty', () => {
  expect(diffJson(undefined, { mode: 'at-least', set: { limits: { 'per-minute': { burst: 60 } } }, ticket: null })).toEqual([
    { path: ['mode'], before: undefined, after: 'at-least' },
    { path: ['set', 'limits', 'per-minute', 'burst'], before: undefined, after: 60 },
  ]);
});

it('shows unlimited against a number as a change', () => {
  expect(diffJson({ limit: 5 }, { limit: null })).toEqual([{ path: ['limit'], before: 5, after: null }]);
});

it('is empty for equal values', () => {
  expect(diffJson({ a: [1, 2] }, { a: [1, 2] })).toEqual([]);
});

it('shows figures grouped and absence as a dash', () => {
  expect([showJson(1000), showJson(undefined), showJson(null), showJson('x'), showJson([1])]).toEqual(['1,000', '–', 'none', 'x', '[1]']);
});
