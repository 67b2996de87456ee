import { MAX_EXACT, redisKeys } from '@quotaplane/contracts';
import { JOURNAL_COUNTS, parseJournalField, type JournalCell } from './journal-field';
import type { UsageRedis } from './usage-redis';

/** A row of the ledger: one cell of one incarnation with its counts so far. Counts not named in the flush are 0; GREATEST keeps the old ones. */
export interface JournalRow extends JournalCell {
  readonly incarnation: string;
  readonly admitted: bigint;
  readonly refunded: bigint;
  readonly degraded: bigint;
  readonly doubtful: bigint;
  /** `degraded` by the hour it was admitted in, hours of store time since 1970; left out where nothing is known of it. */
  readonly degradedHours?: ReadonlyMap<number, bigint>;
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
  const rows = new Map<string, { -readonly [K in keyof JournalRow]: JournalRow[K] } & { readonly degradedHours: Map<number, bigint> }>();
  let refused = 0;
  for (const [field, text] of fields) {
    const parsed = parseJournalField(field);
    if (!parsed || !isCount(text)) {
      refused += 1;
      continue;
    }
    const id = field.slice(0, field.lastIndexOf('|'));
    const row = rows.get(id) ?? { ...parsed.cell, incarnation, admitted: 0n, refunded: 0n, degraded: 0n, doubtful: 0n, degradedHours: new Map<number, bigint>() };
    if (parsed.hour === null) row[parsed.count] = BigInt(text);
    else row.degradedHours.set(parsed.hour, BigInt(text));
    rows.set(id, row);
  }
  return { rows: [...rows.values()], refused };
};

const NAMES_PER_READ = 2_000;
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
export const readJournals = async (redis: UsageRedis, report: (problem: string) => void = () => undefined): Promise<JournalBatch[]> => {
  const incarnations = (await redis.smembers(redisKeys.journals)).sort();
  const acks = await redis.hgetall(redisKeys.journalAcks);
  const batches: JournalBatch[] = [];
  for (const incarnation of incarnations) {
    const key = redisKeys.journal(incarnation);
    const [seq, at, service, closed, dirty] = (await readFields(redis, key, BATCH_FIELDS)) ?? ['unreadable'];
    if (!seq) {
      await forgetJournal(redis, incarnation);
      continue;
    }
    const names = dirtyFields(dirty);
    if (!isCount(seq) || !isCount(at ?? '') || names === undefined) {
      report(`the journal of ${incarnation} cannot be read and is left out`);
      continue;
    }
    if (Number(seq) <= Number(acks[incarnation] ?? 0)) continue;
    const values = await valuesOf(redis, key, names);
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
      rows: rows.filter((row) => JOURNAL_COUNTS.some((count) => row[count] > 0n) || (row.degradedHours?.size ?? 0) > 0),
    });
  }
  return batches;
};

/** In pieces: a journal may name more counts than a call takes arguments. */
const valuesOf = async (redis: UsageRedis, key: string, names: readonly string[]): Promise<(string | null)[]> => {
  const values: (string | null)[] = [];
  for (let from = 0; from < names.length; from += NAMES_PER_READ) {
    for (const value of await redis.hmget(key, ...names.slice(from, from + NAMES_PER_READ))) values.push(value);
  }
  return values;
};

/** @returns undefined where the key is no hash */
const readFields = async (redis: UsageRedis, key: string, names: readonly string[]): Promise<(string | null)[] | undefined> => {
  try {
    return await redis.hmget(key, ...names);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
    throw error;
  }
};

/**
 * Acknowledges folded sequences; call it after the Postgres commit only. A closed journal that is folded to its end leaves the list of those to
 * fold and stays, until its TTL ends, among the ended ones: the reconciliation of statements reads it. An unclosed one never ends: its node may be
 * alive and away.
 */
export const acknowledgeJournals = async (redis: UsageRedis, batches: readonly Pick<JournalBatch, 'incarnation' | 'seq' | 'isClosed'>[]): Promise<void> => {
  // Command by command, not in one MULTI: in a cluster the keys have different slots. Stopped half-way, the next fold goes on.
  const acks = batches.filter(({ isClosed }) => !isClosed).flatMap(({ incarnation, seq }) => [incarnation, seq]);
  if (acks.length > 0) await redis.hset(redisKeys.journalAcks, ...acks);
  for (const { incarnation, seq } of batches.filter(({ isClosed }) => isClosed)) await endJournal(redis, incarnation, seq);
};

const endJournal = async (redis: UsageRedis, incarnation: string, foldedSeq: number): Promise<void> => {
  // Among the ended ones first: stopped half-way it is on both lists, and folded once more.
  await redis.sadd(redisKeys.journalsEnded, incarnation);
  await redis.srem(redisKeys.journals, incarnation);
  await redis.hdel(redisKeys.journalAcks, incarnation);
  // A store that lost the hash makes its node write it anew, and there is no next flush to add the name.
  const [seq] = (await readFields(redis, redisKeys.journal(incarnation), ['#seq'])) ?? [];
  if (Number(seq ?? 0) > foldedSeq) await redis.sadd(redisKeys.journals, incarnation);
};

/** Takes the names of ended journals off the list whose hashes are gone; for the worker's sweep. @returns how many were removed */
export const forgetEndedJournals = async (redis: UsageRedis): Promise<number> => {
  let removed = 0;
  for (const incarnation of await redis.smembers(redisKeys.journalsEnded)) {
    if ((await redis.exists(redisKeys.journal(incarnation))) === 0) removed += await redis.srem(redisKeys.journalsEnded, incarnation);
  }
  return removed;
};

/** Takes a name off the list whose hash is expired or lost; a living node adds it again with its next flush. */
const forgetJournal = async (redis: UsageRedis, incarnation: string): Promise<void> => {
  await redis.srem(redisKeys.journals, incarnation);
  await redis.hdel(redisKeys.journalAcks, incarnation);
  // A last flush may have come in between, and there is no next one to add the name.
  if ((await redis.exists(redisKeys.journal(incarnation))) === 1) await redis.sadd(redisKeys.journals, incarnation);
};
