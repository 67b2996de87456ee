import { MAX_EXACT } from '@quotaplane/contracts';
import { quotaKeys, type QuotaName } from '../counter-key';
import { SCRIPTS } from '../lua/scripts.generated';
import { QUOTA_GRACE_MS } from '../models/numbers';

/** The few commands of Redis that the ledger's side of a quota needs; ioredis has them, a pipeline of it too. */
export interface QuotaRedis {
  evalsha(sha1: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  eval(source: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  get(key: string): Promise<string | null>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
}

/** What a quota's counter in this generation does not know: used = counter + plus - minus. Whole units; more than 2^53-1 is held there. */
export interface QuotaBaseFigures extends QuotaName {
  readonly plus: bigint;
  readonly minus: bigint;
  readonly periodEndMs: number;
}

const text = (units: bigint): string => String(units > BigInt(MAX_EXACT) ? BigInt(MAX_EXACT) : units);

/**
 * Raises the base of a quota. Repeats, and older figures that come late, change nothing.
 * @param nowMs store time, for the base's end: the period's and 48 h, as its counter's
 */
export async function writeQuotaBase(redis: QuotaRedis, figures: QuotaBaseFigures, nowMs: number): Promise<void> {
  const { sha1, source } = SCRIPTS['write-base'];
  const ttlMs = Math.max(60_000, figures.periodEndMs + QUOTA_GRACE_MS - nowMs);
  const args = [quotaKeys(figures).base, text(figures.plus), text(figures.minus), ttlMs];
  await redis.evalsha(sha1, 1, ...args).catch((error: unknown) => {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(source, 1, ...args);
  });
}

/** A quota as Redis has it: its counter, and the base beside it. Null where there is none, or none of ours. */
export interface StoredQuota {
  readonly counter: bigint | null;
  readonly plus: bigint;
  readonly minus: bigint;
}

const COUNT = /^\d{1,16}$/;
const countOf = (found: string | null | undefined): bigint | null => (found && COUNT.test(found) ? BigInt(found) : null);
/** A key of another type is none of ours: as if it were not there, which is what the check script makes of it. */
const orNothing = <T>(nothing: T) => (error: unknown): T => {
  if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return nothing;
  throw error;
};

/** Reads quotas as the check script would; sent at once, so that a pipelining client needs one round trip. */
export async function readQuotas(redis: QuotaRedis, names: readonly QuotaName[]): Promise<StoredQuota[]> {
  return Promise.all(names.map(async (name) => {
    const keys = quotaKeys(name);
    const [counter, base] = await Promise.all([
      redis.get(keys.counter).catch(orNothing(null)),
      redis.hmget(keys.base, 'plus', 'minus').catch(orNothing<(string | null)[]>([])),
    ]);
    return { counter: countOf(counter), plus: countOf(base[0]) ?? 0n, minus: countOf(base[1]) ?? 0n };
  }));
}

const NAME = /^qp:\{([a-z0-9-]{1,63})\}:q:([a-z0-9-]{1,63}):(\d{4}-\d{2}-\d{2}):(\d{1,9}):(\d{1,9})$/;

/** Pattern that finds every quota's counter in a scan. */
export const QUOTA_COUNTERS_PATTERN = 'qp:{*}:q:*';

/** Inverse of `quotaKeys(...).counter`; null for any other key. */
export const quotaNameOf = (key: string): QuotaName | null => {
  const [, tenant, meter, periodId, part, generation] = NAME.exec(key) ?? [];
  if (tenant === undefined || meter === undefined || periodId === undefined) return null;
  return { tenant, meter, periodId, part: Number(part), generation: Number(generation) };
};
