import { redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { JOURNAL_COUNTS, parseJournalField, type JournalCell } from './journal-field';

/** A row of the ledger: one cell of one incarnation with its counts so far. Counts not named in the flush are 0; GREATEST keeps the old ones. */
export interface JournalRow extends JournalCell {
  readonly incarnation: string;
  readonly admitted: bigint;
  readonly refunded: bigint;
  readonly degraded: bigint;
}

/** What one incarnation has flushed since the last acknowledged sequence. */
export interface JournalBatch {
  readonly incarnation: string;
  readonly service: string;
  readonly seq: number;
  /** Store time of the flush in ms: everything admitted before it is in here or was folded earlier. */
  readonly atMs: number;
  readonly isClosed: boolean;
  readonly rows: readonly JournalRow[];
}

/** Folds the fields of one flush into rows; pure. Fields that are not of a journal, or not whole numbers, are left out and counted. */
export const foldRows = (incarnation: string, fields: ReadonlyMap<string, string>): { readonly rows: JournalRow[]; readonly refused: number } => {
  const rows = new Map<string, { -readonly [K in keyof JournalRow]: JournalRow[K] }>();
  let refused = 0;
  for (const [field, text] of fields) {
    const parsed = parseJournalField(field);
    if (!parsed || !/^\d+$/.test(text)) {
      refused += 1;
      continue;
    }
    const id = field.slice(0, field.lastIndexOf('|'));
    const row = rows.get(id) ?? { ...parsed.cell, incarnation, admitted: 0n, refunded: 0n, degraded: 0n };
    row[parsed.count] = BigInt(text);
    rows.set(id, row);
  }
  return { rows: [...rows.values()], refused };
};

const BATCH_FIELDS = ['#seq', '#at', '#service', '#closed', '#dirty'] as const;

const dirtyFields = (text: string | null | undefined): string[] => {
  const parsed: unknown = JSON.parse(text ?? '[]');
  return Array.isArray(parsed) ? parsed.filter((field): field is string => typeof field === 'string') : [];
};

/**
 * Reads every journal that has flushed since its acknowledged sequence. Fields and sequence of one incarnation are read in one MULTI's neighbour,
 * values after the list: a value may be newer than the list, never older, and newer counts are only larger.
 */
export const readJournals = async (redis: Redis): Promise<JournalBatch[]> => {
  const incarnations = (await redis.smembers(redisKeys.journals)).sort();
  const acks = await redis.hgetall(redisKeys.journalAcks);
  const batches: JournalBatch[] = [];
  for (const incarnation of incarnations) {
    const key = redisKeys.journal(incarnation);
    const [seq, at, service, closed, dirty] = await redis.hmget(key, ...BATCH_FIELDS);
    if (!seq) {
      // Expired or lost; a living node adds its name again with its next flush.
      await redis.srem(redisKeys.journals, incarnation);
      continue;
    }
    if (Number(seq) <= Number(acks[incarnation] ?? 0)) continue;
    const names = dirtyFields(dirty);
    const values = names.length === 0 ? [] : await redis.hmget(key, ...names);
    const fields = new Map(names.map((name, index) => [name, values[index] ?? ''] as const));
    batches.push({
      incarnation,
      service: service ?? '',
      seq: Number(seq),
      atMs: Number(at),
      isClosed: closed === '1',
      rows: foldRows(incarnation, fields).rows.filter((row) => JOURNAL_COUNTS.some((count) => row[count] > 0n)),
    });
  }
  return batches;
};

/**
 * Acknowledges folded sequences; call it after the Postgres commit only. A closed journal that is folded to its end is deleted,
 * an unclosed one never: its node may be alive and away.
 */
export const acknowledgeJournals = async (redis: Redis, batches: readonly Pick<JournalBatch, 'incarnation' | 'seq' | 'isClosed'>[]): Promise<void> => {
  if (batches.length === 0) return;
  const commands = redis.multi();
  for (const { incarnation, seq, isClosed } of batches) {
    if (isClosed) {
      commands.del(redisKeys.journal(incarnation)).srem(redisKeys.journals, incarnation).hdel(redisKeys.journalAcks, incarnation);
    } else {
      commands.hset(redisKeys.journalAcks, incarnation, seq);
    }
  }
  const replies = await commands.exec();
  const failed = replies?.find(([error]) => error)?.[0];
  if (failed) throw failed;
};
