import { MAX_EXACT, redisKeys } from '@quotaplane/contracts';
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

/** Whole numbers to 2^53-1: what a journal holds. */
const isCount = (text: string): boolean => /^\d{1,16}$/.test(text) && Number(text) <= MAX_EXACT;

/** Folds the fields of one flush into rows; pure. Fields that are not of a journal, or not exact whole numbers, are left out and counted. */
export const foldRows = (incarnation: string, fields: ReadonlyMap<string, string>): { readonly rows: JournalRow[]; readonly refused: number } => {
  const rows = new Map<string, { -readonly [K in keyof JournalRow]: JournalRow[K] }>();
  let refused = 0;
  for (const [field, text] of fields) {
    const parsed = parseJournalField(field);
    if (!parsed || !isCount(text)) {
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

/** @returns undefined for what no node writes */
const dirtyFields = (text: string | null | undefined): string[] | undefined => {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(parsed) ? parsed.filter((field): field is string => typeof field === 'string') : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Reads every journal that has flushed since its acknowledged sequence. Fields and sequence of one incarnation are read in one MULTI's neighbour,
 * values after the list: a value may be newer than the list, never older, and newer counts are only larger.
 * A journal that cannot be read, or a field of one, is left out and reported: it must not keep the others from the ledger.
 */
export const readJournals = async (redis: Redis, report: (problem: string) => void = () => undefined): Promise<JournalBatch[]> => {
  const incarnations = (await redis.smembers(redisKeys.journals)).sort();
  const acks = await redis.hgetall(redisKeys.journalAcks);
  const batches: JournalBatch[] = [];
  for (const incarnation of incarnations) {
    const key = redisKeys.journal(incarnation);
    const [seq, at, service, closed, dirty] = (await readFields(redis, key, BATCH_FIELDS)) ?? ['unreadable'];
    if (!seq) {
      // Expired or lost; a living node adds its name again with its next flush.
      await redis.srem(redisKeys.journals, incarnation);
      continue;
    }
    const names = dirtyFields(dirty);
    if (!isCount(seq) || !isCount(at ?? '') || names === undefined) {
      report(`the journal of ${incarnation} cannot be read and is left out`);
      continue;
    }
    if (Number(seq) <= Number(acks[incarnation] ?? 0)) continue;
    const values = names.length === 0 ? [] : await redis.hmget(key, ...names);
    // A listed count that is not there went with a lost store; its node writes it again.
    const fields = new Map(names.flatMap((name, index) => (values[index] ? [[name, values[index]] as const] : [])));
    const { rows, refused } = foldRows(incarnation, fields);
    if (refused > 0) report(`${refused} counts of ${incarnation} are no exact numbers and are left out`);
    batches.push({
      incarnation,
      service: service ?? '',
      seq: Number(seq),
      atMs: Number(at),
      isClosed: closed === '1',
      rows: rows.filter((row) => JOURNAL_COUNTS.some((count) => row[count] > 0n)),
    });
  }
  return batches;
};

/** @returns undefined where the key is no hash */
const readFields = async (redis: Redis, key: string, names: readonly string[]): Promise<(string | null)[] | undefined> => {
  try {
    return await redis.hmget(key, ...names);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
    throw error;
  }
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
