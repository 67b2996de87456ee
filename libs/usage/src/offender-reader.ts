import { redisKeys, type Scope } from '@quotaplane/contracts';
import { minuteOf } from './minute-log';
import type { OffenderDocument, OffenderSubject } from './offender-minute';
import type { UsageRedis } from './usage-redis';

export interface OffenderRow extends OffenderSubject {
  readonly denials: number;
  /** The true figure is at most this far from `denials`, either way; 0 is exact. */
  readonly error: number;
  /** Denials by limit as far as they are known, most first; exact counts add up to `denials`. */
  readonly limits: readonly { readonly name: string; readonly denials: number }[];
  /** Store time in ms of the last denial. */
  readonly lastSeenMs: number;
  /** Whether most of its retries came after the instant it was told; null when none was seen. */
  readonly honoursRetryAfter: boolean | null;
}

interface Sum extends OffenderSubject {
  denials: number;
  /** Most that the listed counts are too large. */
  over: number;
  /** Floors of the documents that list it: what it cannot have been missed by. */
  floors: number;
  readonly limits: Map<string, number>;
  lastSeenMs: number;
  early: number;
  waited: number;
}

/**
 * Adds up what nodes have seen in their minutes; pure. In each document a listed count is at most its error too large, and an unlisted subject
 * had at most `floor` denials. Both add up: a sum is too large by at most the listed errors and too small by at most the floors of the documents
 * that do not list it. Together they never pass the sum of floors, which is at most all denials / counters: a subject above that is always listed.
 */
export const mergeOffenders = (documents: readonly OffenderDocument[], { sinceMs }: { readonly sinceMs: number }): OffenderRow[] => {
  const sums = new Map<string, Sum>();
  const sumOf = (tenant: string, scope: Scope, subject: string): Sum => {
    const id = JSON.stringify([tenant, scope, subject]);
    const sum = sums.get(id) ?? { tenant, scope, subject, denials: 0, over: 0, floors: 0, limits: new Map<string, number>(), lastSeenMs: 0, early: 0, waited: 0 };
    sums.set(id, sum);
    return sum;
  };
  for (const { floor, subjects, retries } of documents) {
    for (const [tenant, scope, subject, count, error, lastSeenMs, limits] of subjects) {
      const sum = sumOf(tenant, scope, subject);
      sum.denials += count;
      sum.over += error;
      sum.floors += floor;
      sum.lastSeenMs = Math.max(sum.lastSeenMs, lastSeenMs);
      for (const [limit, , denials] of limits) sum.limits.set(limit, (sum.limits.get(limit) ?? 0) + denials);
    }
    for (const [tenant, scope, subject, early, waited] of retries) {
      const sum = sumOf(tenant, scope, subject);
      sum.early += early;
      sum.waited += waited;
    }
  }
  const floors = documents.reduce((total, { floor }) => total + floor, 0);
  return [...sums.entries()].filter(([, sum]) => sum.lastSeenMs >= sinceMs)
    .sort(([idA, a], [idB, b]) => b.denials - a.denials || (idA < idB ? -1 : 1))
    .map(([, sum]) => rowOf(sum, floors));
};

const rowOf = ({ tenant, scope, subject, denials, over, floors: listed, limits, lastSeenMs, early, waited }: Sum, floors: number): OffenderRow => ({
  tenant, scope, subject, denials,
  error: Math.max(over, floors - listed),
  limits: [...limits].map(([name, count]) => ({ name, denials: count })).sort((a, b) => b.denials - a.denials || (a.name < b.name ? -1 : 1)),
  lastSeenMs,
  honoursRetryAfter: early + waited === 0 ? null : waited > early,
});

/**
 * Subjects denied in the last `minutes`, most denials first (ties by tenant, scope, subject), and the denials of all. Counts are by whole minutes, so
 * they reach back up to one minute more: a subject denied a second ago must not vanish when the minute turns.
 */
export const readOffenders = async (
  redis: UsageRedis,
  { minutes, nowMs, limit }: { readonly minutes: number; readonly nowMs: number; readonly limit: number },
): Promise<{ readonly rows: OffenderRow[]; readonly totalDenials: number }> => {
  const keys = Array.from({ length: minutes + 1 }, (_, index) => redisKeys.offenders(minuteOf(nowMs) - index));
  const texts = (await Promise.all(keys.map((key) => fieldsOf(redis, key)))).flat();
  const rows = mergeOffenders(texts.flatMap((text) => parseDocument(text) ?? []), { sinceMs: nowMs - minutes * 60_000 });
  return { rows: rows.slice(0, limit), totalDenials: rows.reduce((sum, { denials }) => sum + denials, 0) };
};

const fieldsOf = async (redis: UsageRedis, key: string): Promise<string[]> => {
  try {
    return await redis.hvals(key);
  } catch (error) {
    // Not written by a guard of ours: it must not hide the other minutes.
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return [];
    throw error;
  }
};

const hasTexts = (entry: readonly unknown[]): boolean => entry.slice(0, 3).every((part) => typeof part === 'string');
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isLimitEntry = (entry: unknown): boolean =>
  Array.isArray(entry) && entry.length === 3 && typeof entry[0] === 'string' && typeof entry[1] === 'string' && isCount(entry[2]);
const isSubjectEntry = (entry: unknown): boolean =>
  Array.isArray(entry) && entry.length === 7 && hasTexts(entry) && entry.slice(3, 6).every(isCount) && Array.isArray(entry[6]) && entry[6].every(isLimitEntry);
const isRetryEntry = (entry: unknown): boolean => Array.isArray(entry) && entry.length === 5 && hasTexts(entry) && entry.slice(3).every(isCount);

/** @returns null for what no guard of ours writes */
const parseDocument = (text: string): OffenderDocument | null => {
  try {
    const document = JSON.parse(text) as Partial<Record<keyof OffenderDocument, unknown>> | null;
    const { floor, subjects, retries } = document ?? {};
    const isOurs = isCount(floor) && Array.isArray(subjects) && subjects.every(isSubjectEntry) && Array.isArray(retries) && retries.every(isRetryEntry);
    return isOurs ? (document as OffenderDocument) : null;
  } catch {
    return null;
  }
};
