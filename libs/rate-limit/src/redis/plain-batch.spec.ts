import { describe, expect, it } from 'vitest';
import { checkOf } from '../rig/connected';
import type { Check, RateCharge } from '../store';
import { PlainBatch } from './plain-batch';
import { CheckBook } from './prepared-check';

const bucket = (counter: string, limit = 100): RateCharge => ({ kind: 'bucket', counter: `qp:{t}:c:${counter}`, limit, windowMs: 60_000, capacity: limit, cost: 1 });
const check = (counter: string, limit?: number): Check => checkOf([bucket(counter, limit)]);
/** Seats that one check of a counter of its own takes for good; head, segment and rule are those of all. */
const fillBook = (book: CheckBook, seats: number): void => {
  for (let own = 3; own < seats; own += 1) book.prepared(check(`seat-${own}`));
};
const groupsOf = (book: CheckBook, checks: readonly Check[]): number[] => [...new PlainBatch(book).fill(checks, '').groupOf.subarray(0, checks.length)];

describe('a prepared check', () => {
  // Mutation: take the memo of a check that was copied.
  it('is that of the very object: a copy of it with other charges is prepared for itself', () => {
    const book = new CheckBook();
    const original = check('a');
    const prepared = book.prepared(original);
    const copy = { ...original, charges: [bucket('b')] };
    expect(book.prepared(original)).toBe(prepared);
    expect(book.prepared(copy).counters[0]?.text).toContain(':c:b');
    expect(book.prepared(copy).counters[0]).not.toBe(prepared.counters[0]);
  });

  // Mutation: take what another book, or an earlier epoch, has prepared.
  it('is that of its book and epoch, whose seats alone are told apart by identity', () => {
    const [book, other] = [new CheckBook(), new CheckBook()];
    const shared = check('a');
    const prepared = book.prepared(shared);
    expect(other.prepared(shared)).not.toBe(prepared);
    const before = book.prepared(shared);
    const { epoch } = book;
    fillBook(book, 100_001);
    expect(book.epoch).not.toBe(epoch);
    expect(book.prepared(shared)).not.toBe(before);
    expect(book.prepared(shared).counters[0]).toBe(book.prepared(check('a')).counters[0]);
  });
});

describe('a batch', () => {
  // Mutation: compare the counters alone.
  it('puts checks that ask the same into one group, whatever object they are, and others into groups of their own', () => {
    const twice = check('a');
    expect(groupsOf(new CheckBook(), [twice, check('b'), check('a'), twice, check('a', 50)])).toEqual([0, 1, 0, 0, 2]);
  });

  // Mutations: let a group grow by the same check, or by equal ones, past what seven bits say.
  it.each([
    ['one object', (one: Check) => one],
    ['objects of their own', () => check('a')],
  ])('puts at most 128 checks into a group, and those that ask the same after that into one more, where they are %s', (_, next) => {
    const one = check('a');
    const checks = Array.from({ length: 129 }, () => next(one));
    const batch = new PlainBatch(new CheckBook()).fill(checks, '');
    expect([...batch.groupOf.subarray(0, 129)]).toEqual(checks.map((_check, at) => (at < 128 ? 0 : 1)));
    expect([...batch.groupChecks.subarray(0, 2)]).toEqual([128, 1]);
  });

  // Mutation: go on with the seats of the epoch before.
  it('keeps equal checks together where a new epoch begins in mid-way', () => {
    const book = new CheckBook();
    const { epoch } = book;
    fillBook(book, 99_996);
    expect(book.epoch).toBe(epoch);
    expect(groupsOf(book, [check('a'), check('b'), check('a')])).toEqual([0, 1, 0]);
    expect(book.epoch).not.toBe(epoch);
  });
});
