import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OffenderMinute, type OffenderDocument } from './offender-minute';
import { mergeOffenders } from './offender-reader';

/** Denials on up to three nodes in up to two minutes. Small numbers are frequent, so that some subjects are heavy. */
const traffic = fc.record({
  counters: fc.integer({ min: 1, max: 8 }),
  nodes: fc.integer({ min: 1, max: 3 }),
  minutes: fc.integer({ min: 1, max: 2 }),
  stream: fc.array(
    fc.record({ place: fc.nat({ max: 5 }), subject: fc.nat({ max: 40 }).map((index) => `u${Math.floor(index ** 2 / 40)}`), limit: fc.constantFrom('per-minute', 'search') }),
    { maxLength: 300 },
  ),
});
const userOf = (subject: string) => ({ tenant: 'acme', scope: 'user', subject }) as const;
const minuteOfDenials = (counters: number, subjects: readonly string[]): OffenderDocument => {
  const minute = new OffenderMinute(0, counters);
  for (const subject of subjects) minute.denied({ ...userOf(subject), limit: 'per-minute', class: 'default' }, 1_000);
  return minute.document();
};

describe('mergeOffenders', () => {
  // Mutations: leave out the floors of documents that do not list a subject; take a newcomer's error as 0; merge by the last document only.
  it('lists every subject above all denials / counters, and is off by no more than it says', () => {
    fc.assert(fc.property(traffic, ({ counters, nodes, minutes, stream }) => {
      const lives = Array.from({ length: nodes * minutes }, (_, index) => new OffenderMinute(index % minutes, counters));
      const truth = new Map<string, number>();
      for (const { place, subject, limit } of stream) {
        lives[place % lives.length]?.denied({ ...userOf(subject), limit, class: 'default' }, 1_000);
        truth.set(subject, (truth.get(subject) ?? 0) + 1);
      }
      const documents = lives.map((life) => JSON.parse(JSON.stringify(life.document())) as OffenderDocument);
      const rows = mergeOffenders(documents, { sinceMs: 0 });
      const bound = stream.length / counters;
      const listed = new Map(rows.map((row) => [row.subject, row]));
      for (const [subject, count] of truth) if (count > bound) expect(listed.has(subject)).toBe(true);
      for (const { subject, denials: told, error, limits } of rows) {
        expect(Math.abs(told - (truth.get(subject) ?? 0))).toBeLessThanOrEqual(error);
        expect(error).toBeLessThanOrEqual(bound);
        expect(limits.reduce((sum, limit) => sum + limit.denials, 0)).toBeLessThanOrEqual(truth.get(subject) ?? 0);
      }
    }), { numRuns: 500 });
  });

  // Mutations: leave out either side of the error.
  it('counts in its error what a newcomer took over, and what another node may have let go', () => {
    const errors = (documents: OffenderDocument[]) => Object.fromEntries(mergeOffenders(documents, { sinceMs: 0 }).map(({ subject, denials, error }) => [subject, [denials, error]]));
    expect(errors([minuteOfDenials(1, ['a', 'a', 'a', 'x'])])).toEqual({ x: [4, 3] });
    // x was denied on both nodes; the second let it go.
    expect(errors([minuteOfDenials(2, ['x']), minuteOfDenials(2, ['x', 'a', 'b', 'a', 'b', 'a'])])).toMatchObject({ x: [1, 3] });
  });

  it('is exact while every node has a counter for each subject', () => {
    const rows = mergeOffenders([minuteOfDenials(3, ['a', 'b', 'c', 'a'])], { sinceMs: 0 });
    expect(rows.map(({ subject, denials, error }) => [subject, denials, error])).toEqual([['a', 2, 0], ['b', 1, 0], ['c', 1, 0]]);
  });

  // Mutation: keep every limit, and one subject takes any amount of memory.
  it('keeps at most 16 limits of a subject apart, and counts the others all the same', () => {
    const minute = new OffenderMinute(0, 1);
    for (let index = 0; index < 20; index += 1) minute.denied({ ...userOf('a'), limit: `limit-${index}`, class: 'default' }, 1_000);
    const [row] = mergeOffenders([minute.document()], { sinceMs: 0 });
    expect([row?.denials, row?.limits.length]).toEqual([20, 16]);
  });

  // Mutation: call a tie, or one that was never seen again, honoured.
  it('says who honours Retry-After by most of their retries, and nothing of those who never came back', () => {
    const minute = new OffenderMinute(0, 10);
    const subjects = ['waits', 'hammers', 'both', 'gone'].map(userOf);
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
