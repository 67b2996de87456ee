import { expect, it } from 'vitest';
import { diffJson } from '../../../format/json-diff';
import { withNewCounters } from './new-counters';

const limit = { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000 };
const marked = (before: object[], after: object[]): string[] =>
  withNewCounters(diffJson(JSON.parse(JSON.stringify({ limits: before })), JSON.parse(JSON.stringify({ limits: after }))))
    .filter(({ note }) => note !== undefined)
    .map(({ path }) => path.slice(1).join('/'));

it('marks what a counter’s key is made of, and nothing else', () => {
  expect(marked([limit], [{ ...limit, windowMs: 1000, limit: 5 }])).toEqual(['per-minute/windowMs']);
  expect(marked([limit], [{ ...limit, endpointClass: 'search' }])).toEqual(['per-minute/endpointClass']);
  expect(marked([limit], [{ ...limit, burst: 5, mode: 'shadow' }])).toEqual([]);
});

it('marks no limit that comes or goes: it has no count to lose', () => {
  expect(marked([limit], [limit, { ...limit, name: 'other' }])).toEqual([]);
  expect(marked([limit, { ...limit, name: 'other' }], [limit])).toEqual([]);
});
