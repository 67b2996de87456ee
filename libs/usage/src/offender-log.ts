import { MINUTE_STATS_TTL_MS, redisKeys, type Scope } from '@quotaplane/contracts';
import type { ChainableCommander, Redis } from 'ioredis';
import { FlushLoop, type FlushOptions } from './flush-loop';

/** Who was denied, by which limit. `subject` is readable and bounded: a key id, a user id, an address; never a secret. */
export interface Denial {
  readonly tenant: string;
  readonly scope: Scope;
  readonly subject: string;
  readonly limit: string;
  readonly class: string;
}

export interface MinuteLogOptions extends FlushOptions {
  readonly redis: Redis;
  /** Store time in ms. */
  readonly storeNow: () => number;
  /** Most distinct entries kept between two flushes; more are dropped. Default 2,000. */
  readonly maxEntries?: number;
  /** Told of counts that found no room, or that a failed flush took along: repeating those could count them twice. */
  readonly onDropped?: (count: number) => void;
}

export const minuteOf = (ms: number): number => Math.floor(ms / 60_000);

/** Denials by subject and minute, added up over all nodes in Redis. Statistics: a lost reply may count a second twice. */
export class OffenderLog {
  private counts = new Map<string, number>();
  private readonly loop: FlushLoop;

  constructor(private readonly options: MinuteLogOptions) {
    this.loop = new FlushLoop(() => this.write(), options);
  }

  start(): void {
    this.loop.start();
  }

  record(denial: Denial): void {
    const member = JSON.stringify([denial.tenant, denial.scope, denial.subject, denial.limit, denial.class]);
    const count = this.counts.get(member);
    if (count === undefined && this.counts.size >= (this.options.maxEntries ?? 2000)) this.options.onDropped?.(1);
    else this.counts.set(member, (count ?? 0) + 1);
  }

  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  async close(): Promise<void> {
    await this.loop.stop();
    await this.loop.runOnce();
  }

  private async write(): Promise<void> {
    if (this.counts.size === 0) return;
    const taken = this.counts;
    this.counts = new Map();
    const nowMs = Math.floor(this.options.storeNow());
    const key = redisKeys.offenders(minuteOf(nowMs));
    const commands = this.options.redis.pipeline();
    for (const [member, count] of taken) commands.zincrby(key, count, member).zadd(redisKeys.offendersSeen, 'GT', nowMs, member);
    commands.pexpire(key, MINUTE_STATS_TTL_MS).zremrangebyscore(redisKeys.offendersSeen, '-inf', nowMs - MINUTE_STATS_TTL_MS);
    commands.pexpire(redisKeys.offendersSeen, MINUTE_STATS_TTL_MS);
    await execOrDrop(commands, taken, this.options);
  }
}

/** Runs a flush; one that fails has dropped what it carried, and says so. */
export const execOrDrop = async (commands: ChainableCommander, taken: ReadonlyMap<string, number>, { onDropped }: MinuteLogOptions): Promise<void> => {
  try {
    const replies = await commands.exec();
    const failed = replies?.find(([error]) => error)?.[0];
    if (failed) throw failed;
  } catch (error) {
    onDropped?.([...taken.values()].reduce((sum, count) => sum + count, 0));
    throw error;
  }
};

export interface OffenderRow {
  readonly tenant: string;
  readonly scope: Scope;
  readonly subject: string;
  readonly denials: number;
  readonly limits: readonly { readonly name: string; readonly denials: number }[];
  /** Store time in ms of the last denial. */
  readonly lastSeenMs: number;
}

/** What a sorted set answers with its scores: member, score, member, score. */
const pairsOf = (flat: readonly string[]): Map<string, number> =>
  new Map(flat.flatMap((member, index) => (index % 2 === 0 ? [[member, Number(flat[index + 1])] as const] : [])));

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Not written by a guard of ours: it must not hide the others.
    return null;
  }
};

const parseMember = (member: string): Denial | null => {
  const parts = parseJson(member);
  if (!Array.isArray(parts) || parts.length !== 5 || parts.some((part) => typeof part !== 'string')) return null;
  const [tenant, scope, subject, limit, className] = parts as [string, Scope, string, string, string];
  return { tenant, scope, subject, limit, class: className };
};

/**
 * Subjects denied in the last `minutes`, most denials first (ties by tenant, scope, subject), and the denials of all. Counts are by whole minutes, so
 * they reach back up to one minute more: a subject denied a second ago must not vanish when the minute turns.
 */
export const readOffenders = async (
  redis: Redis,
  { minutes, nowMs, limit }: { readonly minutes: number; readonly nowMs: number; readonly limit: number },
): Promise<{ readonly rows: OffenderRow[]; readonly totalDenials: number }> => {
  const keys = Array.from({ length: minutes + 1 }, (_, index) => redisKeys.offenders(minuteOf(nowMs) - index));
  const flat = await redis.zunion(keys.length, ...keys, 'WITHSCORES');
  const seenMs = pairsOf(await redis.zrange(redisKeys.offendersSeen, nowMs - minutes * 60_000, '+inf', 'BYSCORE', 'WITHSCORES'));
  const rows = new Map<string, { denial: Denial; denials: number; limits: Map<string, number>; lastSeenMs: number }>();
  let totalDenials = 0;
  for (const [member, denials] of pairsOf(flat)) {
    const denial = parseMember(member);
    const lastSeenMs = seenMs.get(member);
    if (!denial || lastSeenMs === undefined) continue;
    totalDenials += denials;
    const id = JSON.stringify([denial.tenant, denial.scope, denial.subject]);
    const row = rows.get(id) ?? { denial, denials: 0, limits: new Map<string, number>(), lastSeenMs: 0 };
    row.denials += denials;
    row.limits.set(denial.limit, (row.limits.get(denial.limit) ?? 0) + denials);
    row.lastSeenMs = Math.max(row.lastSeenMs, lastSeenMs);
    rows.set(id, row);
  }
  const top = [...rows.entries()].sort(([idA, a], [idB, b]) => b.denials - a.denials || (idA < idB ? -1 : 1)).slice(0, limit);
  return {
    totalDenials,
    rows: top.map(([, { denial, denials, limits, lastSeenMs }]) => ({
      tenant: denial.tenant,
      scope: denial.scope,
      subject: denial.subject,
      denials,
      limits: [...limits].map(([name, count]) => ({ name, denials: count })).sort((a, b) => b.denials - a.denials || (a.name < b.name ? -1 : 1)),
      lastSeenMs,
    })),
  };
};
