import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OffenderMinute, type OffenderDocument } from './offender-minute';
import { mergeOffenders } from './offender-reader';

const COUNTERS = 6;
const NODES = 3;
/** One denial: on which node, in which of two minutes, whose. Small numbers are frequent, so that some are heavy. */
const denials = fc.array(
  fc.record({ node: fc.nat({ max: NODES - 1 }), minute: fc.nat({ max: 1 }), subject: fc.nat({ max: 40 }).map((index) => `u${Math.floor(index ** 2 / 40)}`), limit: fc.constantFrom('per-minute', 'search') }),
  { maxLength: 400 },
);

describe('mergeOffenders', () => {
  // Mutations: leave out the floors of documents that do not list a subject; take a newcomer's error as 0; merge by the last document only.
  it('lists every subject above all denials / counters, and is off by no more than it says', () => {
    fc.assert(fc.property(denials, (stream) => {
      const minutes = Array.from({ length: NODES * 2 }, (_, index) => new OffenderMinute(index % 2, COUNTERS));
      const truth = new Map<string, number>();
      for (const { node, minute, subject, limit } of stream) {
        minutes[node * 2 + minute]?.denied({ tenant: 'acme', scope: 'user', subject, limit, class: 'default' }, 1_000);
        truth.set(subject, (truth.get(subject) ?? 0) + 1);
      }
      const documents = minutes.map((minute) => JSON.parse(JSON.stringify(minute.document())) as OffenderDocument);
      const rows = mergeOffenders(documents, { sinceMs: 0 });
      const bound = stream.length / COUNTERS;
      const listed = new Map(rows.map((row) => [row.subject, row]));
      for (const [subject, count] of truth) if (count > bound) expect(listed.has(subject)).toBe(true);
      for (const { subject, denials: told, error, limits } of rows) {
        expect(Math.abs(told - (truth.get(subject) ?? 0))).toBeLessThanOrEqual(error);
        expect(error).toBeLessThanOrEqual(bound);
        expect(limits.reduce((sum, limit) => sum + limit.denials, 0)).toBeLessThanOrEqual(truth.get(subject) ?? 0);
      }
    }), { numRuns: 500 });
  });

  it('is exact while every node has a counter for each subject', () => {
    const minute = new OffenderMinute(0, 3);
    for (const subject of ['a', 'b', 'c', 'a']) minute.denied({ tenant: 'acme', scope: 'user', subject, limit: 'per-minute', class: 'default' }, 1_000);
    expect(mergeOffenders([minute.document()], { sinceMs: 0 }).map(({ subject, denials: told, error }) => [subject, told, error])).toEqual([['a', 2, 0], ['b', 1, 0], ['c', 1, 0]]);
  });

  // Mutation: call a tie, or one that was never seen again, honoured.
  it('says who honours Retry-After by most of their retries, and nothing of those who never came back', () => {
    const minute = new OffenderMinute(0, 10);
    const subjects = ['waits', 'hammers', 'both', 'gone'].map((subject) => ({ tenant: 'acme', scope: 'user', subject }) as const);
    for (const subject of subjects) minute.denied({ ...subject, limit: 'per-minute', class: 'default' }, 1_000);
    const [waits, hammers, both] = subjects;
    if (!waits || !hammers || !both) return expect.unreachable();
    for (const kind of ['early', 'waited', 'waited'] as const) minute.retried(waits, kind);
    for (const kind of ['early', 'early', 'waited'] as const) minute.retried(hammers, kind);
    for (const kind of ['early', 'waited'] as const) minute.retried(both, kind);
    const rows = mergeOffenders([minute.document()], { sinceMs: 0 });
    expect(Object.fromEntries(rows.map(({ subject, honoursRetryAfter }) => [subject, honoursRetryAfter]))).toEqual({ waits: true, hammers: false, both: false, gone: null });
  });
});
