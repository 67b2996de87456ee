import { redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from './journal';
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
      const old = this.rows.get(id) ?? { ...row, admitted: 0n, refunded: 0n, degraded: 0n };
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

  // Mutation: add without the cap, and the text of the count is one that no ledger takes.
  it('stays at 2^53-1 where a count would pass it', async () => {
    const journal = journalOf('n1');
    for (let call = 0; call < 3; call += 1) journal.admit(cell, Number.MAX_SAFE_INTEGER);
    await journal.flush();
    expect((await readJournals(redis))[0]?.rows).toMatchObject([{ admitted: 9007199254740991n }]);
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
        expect(await redis.keys(`${redisKeys.journal('')}*`)).toEqual([]);
        expect(await redis.smembers(redisKeys.journals)).toEqual([]);
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
