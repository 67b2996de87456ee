import { subjectField, type SubjectPolicy } from '@quotaplane/contracts';
import { expect, it } from 'vitest';
import { SubjectCache } from './subject-cache';
import { subjectSegmentAt } from './timeline';

const field = subjectField('user', 'u1');
const policy: SubjectPolicy = {
  v: 1,
  segments: [
    { fromMs: 0, untilMs: 10, limits: [] },
    { fromMs: 10, untilMs: 20, limits: [{ name: 'per-user', limit: 5, burst: null, sources: { limit: 'override:o', burst: 'override:o' } }] },
  ],
};

it('tells what was never read from a subject without overrides', () => {
  const cache = new SubjectCache();
  expect(cache.get('acme', '1.1', field)).toBeUndefined();
  expect(cache.accept('acme', '1.1', field, null)).toBe('accepted');
  expect(cache.get('acme', '1.1', field)).toBeNull();
});

// Mutation: a key without the head.
it('asks again under a new head, and knows the old one until then', () => {
  const cache = new SubjectCache();
  cache.accept('acme', '1.1', field, JSON.stringify(policy));
  expect(cache.get('acme', '1.1', field)).toEqual(policy);
  expect([cache.get('acme', '2.1', field), cache.get('globex', '1.1', field), cache.get('acme', '1.1', 'user:u')]).toEqual([undefined, undefined, undefined]);
});

it('calls a damaged text lost and holds the subject to the tenant\'s own numbers', () => {
  const cache = new SubjectCache();
  for (const text of ['{', '{"v":2}', '']) {
    expect(cache.accept('acme', '1.1', field, text)).toBe('lost');
    expect(cache.get('acme', '1.1', field)).toBeNull();
  }
});

it('is bounded and keeps the subjects in use', () => {
  const cache = new SubjectCache({ maxSubjects: 2 });
  for (const id of ['a', 'b']) cache.accept('acme', '1.1', `user:${id}`, null);
  cache.get('acme', '1.1', 'user:a');
  cache.accept('acme', '1.1', 'user:c', null);
  expect([cache.size, cache.get('acme', '1.1', 'user:a'), cache.get('acme', '1.1', 'user:b')]).toEqual([2, null, undefined]);
});

it('finds the stretch of an instant, its bounds half open', () => {
  expect([-1, 0, 9, 10, 19, 20].map((atMs) => subjectSegmentAt(policy, atMs)?.fromMs)).toEqual([undefined, 0, 0, 10, 10, undefined]);
});
