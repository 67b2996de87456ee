import { randomUUID } from 'node:crypto';
import { journalDocument, redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from './journal';
import { batchOfDocument } from './journal-document';
import type { JournalCell } from './journal-field';
import { acknowledgeJournals, foldRows, readJournals, type JournalBatch, type JournalRow } from './journal-reader';

const cell: JournalCell = { tenant: 'acme', meter: 'requests', periodId: '2026-11-01', part: 1, class: 'default', generation: 1 };

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => undefined);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await redis.flushall();
});

/** The ledger as Postgres keeps it: GREATEST on every count. */
class Ledger {
  private readonly rows = new Map<string, JournalRow>();
  fold(batches: readonly JournalBatch[]): void {
    for (const row of batches.flatMap((batch) => batch.rows)) {
      const id = JSON.stringify([row.incarnation, row.tenant, row.meter, row.periodId, row.part, row.class, row.generation]);
      const old = this.rows.get(id) ?? { ...row, admitted: 0n, refunded: 0n, degraded: 0n, doubtful: 0n };
      const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
      this.rows.set(id, {
        ...row,
        admitted: greatest(old.admitted, row.admitted), refunded: greatest(old.refunded, row.refunded), degraded: greatest(old.degraded, row.degraded),
      });
    }
  }
  get admitted(): bigint {
    return [...this.rows.values()].reduce((sum, row) => sum + row.admitted, 0n);
  }
}

const journalOf = (incarnation: string): Journal => new Journal({ redis, incarnation, service: 'echo', storeNow: () => 1_000 });

describe('Journal', () => {
  // Mutation: clear the dirty set at the flush instead of at the acknowledgement.
  it('keeps a count dirty until the fold has acknowledged it, and writes everything again when the store lost it', async () => {
    const journal = journalOf('n1');
    journal.admit(cell, 3);
    await journal.flush();
    await redis.flushall();
    await journal.flush();
    await journal.flush();
    const [batch] = await readJournals(redis);
    expect(batch).toMatchObject({ incarnation: 'n1', service: 'echo', atMs: 1_000, rows: [{ ...cell, admitted: 3n, refunded: 0n, degraded: 0n }] });
  });

  // Mutation: only throw, and this life's counts never reach the ledger again.
  it('replaces a key of another type that stands in the place of its hash, and writes everything anew', async () => {
    const journal = journalOf('n1');
    journal.admit(cell, 3);
    await journal.flush();
    await redis.del(redisKeys.journal('n1'));
    await redis.rpush(redisKeys.journal('n1'), 'x');
    expect(await journal.flush()).toBe(false);
    expect(await journal.flush()).toBe(true);
    await journal.flush();
    expect((await readJournals(redis))[0]?.rows).toMatchObject([{ admitted: 3n }]);
  });

  // Mutation: add without the cap, and the text of the count is one that no ledger takes.
  it('stays at 2^53-1 where a count would pass it', async () => {
    const journal = journalOf('n1');
    for (let call = 0; call < 3; call += 1) journal.admit(cell, Number.MAX_SAFE_INTEGER);
    await journal.flush();
    expect((await readJournals(redis))[0]?.rows).toMatchObject([{ admitted: 9007199254740991n }]);
  });

  // Mutations: take the refund out of another cell, or as much as is asked for.
  it('refunds within the cell of the admission, and never more than was admitted there by the store', async () => {
    const cells = [cell, { ...cell, class: 'search' }, { ...cell, periodId: '2026-12-01' }];
    const step = fc.record({ of: fc.nat({ max: 2 }), units: fc.nat({ max: 9 }), kind: fc.constantFrom('admit', 'refund', 'degraded') });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const journal = journalOf(`refunds-${++run}`);
        const truth = cells.map(() => ({ admitted: 0, refunded: 0 }));
        for (const { of, units, kind } of steps) {
          const [own, counts] = [cells[of] ?? cell, truth[of] ?? { admitted: 0, refunded: 0 }];
          if (kind === 'admit') {
            journal.admit(own, units);
            counts.admitted += units;
          } else if (kind === 'degraded') journal.admitDegraded(own, units);
          else {
            const given = journal.refund({ ...own }, units);
            expect(given).toBe(Math.min(units, counts.admitted - counts.refunded));
            counts.refunded += given;
          }
        }
        await journal.close();
        const rows = (await readJournals(redis)).find(({ incarnation }) => incarnation === `refunds-${run}`)?.rows ?? [];
        for (const [index, { class: className, periodId }] of cells.entries()) {
          const row = rows.find((one) => one.class === className && one.periodId === periodId);
          expect([Number(row?.admitted ?? 0n), Number(row?.refunded ?? 0n)]).toEqual([truth[index]?.admitted, truth[index]?.refunded]);
        }
        await redis.flushall();
      }),
      { numRuns: 60 },
    );
  });

  // Mutation: tell of the hour of the flush instead of the hour of the admission.
  it('says in which hour of store time it admitted without the store', async () => {
    const hourMs = 3_600_000;
    let nowMs = 10 * hourMs + 1;
    const journal = new Journal({ redis, incarnation: 'n5', service: 'echo', storeNow: () => nowMs });
    journal.admitDegraded(cell, 3);
    nowMs = 11 * hourMs;
    journal.admitDegraded(cell, 4);
    nowMs = 20 * hourMs;
    await journal.flush();
    expect((await readJournals(redis))[0]?.rows).toMatchObject([{ degraded: 7n, degradedHours: new Map([[10, 3n], [11, 4n]]) }]);
    expect(journal.snapshot().counts).toMatchObject([{ degraded: 7, degradedByHour: [{ hour: '1970-01-01T10:00:00.000Z', units: 3 }, { hour: '1970-01-01T11:00:00.000Z', units: 4 }] }]);
  });

  // Mutation: name the dirty counts alone, and a cell's refunds stand without its admissions.
  it('names in a snapshot the unfolded cells alone, each with all of its counts, in the form of the contract', async () => {
    const journal = new Journal({ redis, incarnation: randomUUID(), service: 'echo', storeNow: () => 1_000.7 });
    const [other, refunded] = [{ ...cell, class: 'folded' }, { ...cell, class: 'refunded' }];
    journal.admit(other, 1);
    journal.admit(refunded, 8);
    await journal.flush();
    await acknowledgeJournals(redis, await readJournals(redis));
    journal.refund(refunded, 2);
    await journal.flush();
    const document = journalDocument.parse(JSON.parse(JSON.stringify(journal.snapshot())));
    expect(document).toEqual({
      version: 1, incarnation: document.incarnation, service: 'echo', sequence: 2, at: '1970-01-01T00:00:01.000Z', closed: false,
      counts: [{ tenant: 'acme', meter: 'requests', period: '2026-11-01', part: 1, class: 'refunded', generation: 1, admitted: 8, refunded: 2, degraded: 0, doubtful: 0, degradedByHour: [] }],
    });
    expect(batchOfDocument(document).rows).toEqual([{ ...refunded, incarnation: document.incarnation, admitted: 8n, refunded: 2n, degraded: 0n, doubtful: 0n, degradedHours: new Map() }]);
  });

  it('survives any mix of flushes, folds, lost acknowledgements and lost stores: the ledger ends at what was admitted', async () => {
    let run = 0;
    const step = fc.constantFrom('admit', 'flush', 'fold', 'fold-without-ack', 'lose-store');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await redis.flushall();
        run += 1;
        const journals = [journalOf(`a${run}`), journalOf(`b${run}`)];
        const ledger = new Ledger();
        let admitted = 0n;
        for (const [index, name] of steps.entries()) {
          const journal = journals[index % 2];
          if (name === 'admit') {
            journal?.admit(cell, index + 1);
            admitted += BigInt(index + 1);
          }
          if (name === 'flush') await journal?.flush();
          if (name === 'lose-store') await redis.flushall();
          if (name.startsWith('fold')) {
            const batches = await readJournals(redis);
            ledger.fold(batches);
            if (name === 'fold') await acknowledgeJournals(redis, batches);
          }
          expect(ledger.admitted <= admitted).toBe(true);
        }
        for (const journal of journals) expect((await journal.close()).atRisk).toEqual({});
        const batches = await readJournals(redis);
        ledger.fold(batches);
        await acknowledgeJournals(redis, batches);
        expect(ledger.admitted).toBe(admitted);
        expect(await redis.smembers(redisKeys.journals)).toEqual([]);
        expect((await redis.smembers(redisKeys.journalsEnded)).sort()).toEqual([`a${run}`, `b${run}`]);
      }),
      { numRuns: 60 },
    );
  });

  it('tells what it could not write when the store is away at the end', async () => {
    const journal = journalOf('n2');
    journal.admit(cell, 5);
    await server.kill('SIGKILL');
    expect((await journal.close()).atRisk).toEqual({ 'acme|requests|2026-11-01|1|default|1|admitted': 5 });
    await server.restart();
    await expect.poll(() => redis.ping().catch(() => 'away')).toBe('PONG');
  });

  // Mutation: flush without PEXPIRE.
  it('C020 gives every journal an end', async () => {
    const journal = journalOf('n3');
    await journal.flush();
    expect(await redis.pttl(redisKeys.journal('n3'))).toBeGreaterThan(0);
  });
});

describe('foldRows', () => {
  it('leaves out and counts what is not a journal field or not a whole number', () => {
    const { rows, refused } = foldRows('n', new Map([['acme|requests|2026-11-01|1|default|1|admitted', '7'], ['#seq', '1'], ['a|b', '2'], ['acme|requests|2026-11-01|1|default|1|refunded', '-1']]));
    expect(rows).toMatchObject([{ admitted: 7n, refunded: 0n }]);
    expect(refused).toBe(3);
  });
});

describe('readJournals', () => {
  // Mutation: take any digits as a count, or let JSON.parse throw: one bad journal keeps all others from the ledger.
  it('leaves out and reports what no ledger can take, and reads the other journals', async () => {
    const field = (part: string): string => `acme|requests|2026-11-01|${part}|default|1|admitted`;
    const ofNode = { '#seq': '1', '#at': '1000', '#service': 'echo' };
    await redis.hset('qp:journal:a-json', { ...ofNode, '#dirty': 'no list' });
    await redis.hset('qp:journal:b-seq', { ...ofNode, '#seq': 'x', '#dirty': '[]' });
    await redis.set('qp:journal:c-type', 'text');
    await redis.hset('qp:journal:d-count', { ...ofNode, '#dirty': JSON.stringify([field('1'), field('99999999999')]), [field('1')]: '99999999999999999999', [field('99999999999')]: '1' });
    const journal = journalOf('e-good');
    journal.admit(cell, 3);
    await journal.flush();
    await redis.sadd('qp:journals', 'a-json', 'b-seq', 'c-type', 'd-count');
    const reports: string[] = [];
    const batches = await readJournals(redis, (problem) => reports.push(problem));
    expect(batches.map(({ incarnation, rows }) => [incarnation, rows.length])).toEqual([['d-count', 0], ['e-good', 1]]);
    expect(reports).toHaveLength(4);
    expect(reports.at(-1)).toContain('2 counts of d-count');
  });
});
