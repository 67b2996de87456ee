import { KEY_TOMBSTONE, keyRecordSchema, redisKeys, type KeyRecord } from '@quotaplane/contracts';
import { BoundedMap } from './bounded-map';
import { within, sleepUntil } from './deadline';
import { parseJson } from './parse-json';
import type { PolicyRedis } from './policy-redis';
import type { OnStoreError } from './store-errors';
import type { Wanted } from './wanted';

export type KeyLookup =
  | { readonly status: 'found'; readonly record: KeyRecord }
  /** No such key, or revoked: 401, never anonymous. */
  | { readonly status: 'unknown' }
  /** Neither the store nor this node knows in time: 503. */
  | { readonly status: 'unavailable' };
type Known = Exclude<KeyLookup, { status: 'unavailable' }>;

export interface KeyIndexOptions {
  readonly redis: PolicyRedis;
  readonly wanted: Pick<Wanted, 'want'>;
  /** The change feed; while it is current, an entry that it has not named is right without asking. */
  readonly feed: { readonly isCurrent: boolean };
  /** Default 100,000. Unknown keys have a tenth of it to themselves, so that made-up ones push out no real one. */
  readonly maxKeys?: number;
  readonly onError?: OnStoreError;
}

interface Entry {
  readonly answer: Known;
  readonly readAtMs: number;
  isDropped: boolean;
}
/** One read shared by all callers of a key; it goes on until the latest of their deadlines. */
interface Read {
  readonly answer: Promise<KeyLookup>;
  deadlineAtMs: number;
  /** Set once the store has answered that it does not hold the key: until when the worker is waited for. */
  workerUntilMs: number | undefined;
  isDropped: boolean;
}

/** Without a current feed an entry older than this is read again, ms; with the feed's own 1.6 s a revocation is live within 2 s. */
const RECHECK_MS = 1_000;
/** Pauses between polls while the worker finds the key, ms; the last one repeats. */
const POLL_MS = [5, 10, 20, 40, 80] as const;
/**
 * How long a key that a healthy store lacks may take the worker, ms. The index is complete, so such a key is almost always made up: that its
 * caller waits is better than that it is served for want of an answer.
 */
const WORKER_MS = 250;
const UNKNOWN: Known = { status: 'unknown' };
const UNAVAILABLE: KeyLookup = { status: 'unavailable' };

/** Whom an API key stands for, by its SHA-256. The last answer of each key is kept while the store is away. */
export class KeyIndex {
  private readonly found: BoundedMap<Entry>;
  private readonly unknown: BoundedMap<Entry>;
  private readonly reads = new Map<string, Read>();

  constructor(private readonly options: KeyIndexOptions) {
    const maxKeys = options.maxKeys ?? 100_000;
    this.found = new BoundedMap(maxKeys);
    this.unknown = new BoundedMap(Math.max(1, Math.ceil(maxKeys / 10)));
  }

  /** The answer when it may be used without asking the store; allocates nothing. */
  peek(sha256: string): KeyLookup | undefined {
    const entry = this.found.get(sha256) ?? this.unknown.get(sha256);
    if (entry === undefined || entry.isDropped) return undefined;
    return this.options.feed.isCurrent || performance.now() - entry.readAtMs < RECHECK_MS ? entry.answer : undefined;
  }

  /**
   * Never rejects. A key that the store does not hold is asked of the worker, which may take longer than the caller's time, 250 ms at most.
   * @param sha256 64 lower-case hex digits
   * @param deadlineAtMs monotonic instant (`performance.now()`) by which the caller needs the answer
   */
  async lookup(sha256: string, deadlineAtMs: number): Promise<KeyLookup> {
    const known = this.peek(sha256);
    if (known !== undefined) return known;
    let read = this.reads.get(sha256);
    // A read past its time may never be answered: the store that hung may have lost it.
    if (read === undefined || Math.max(read.deadlineAtMs, read.workerUntilMs ?? 0) < performance.now()) read = this.begin(sha256, deadlineAtMs);
    read.deadlineAtMs = Math.max(read.deadlineAtMs, deadlineAtMs);
    const inTime = await within<KeyLookup | undefined>(read.answer, deadlineAtMs, undefined);
    const answer = inTime ?? (read.workerUntilMs === undefined ? UNAVAILABLE : await within(read.answer, read.workerUntilMs, UNAVAILABLE));
    return answer.status === 'unavailable' ? (this.lastKnown(sha256) ?? answer) : answer;
  }

  /** A change of this key was announced. The last known answer stays for a store that goes away now. */
  drop(sha256: string): void {
    const entry = this.found.peek(sha256) ?? this.unknown.peek(sha256);
    if (entry !== undefined) entry.isDropped = true;
    const read = this.reads.get(sha256);
    if (read !== undefined) read.isDropped = true;
  }

  dropAll(): void {
    for (const entry of this.found.values()) entry.isDropped = true;
    for (const entry of this.unknown.values()) entry.isDropped = true;
    for (const read of this.reads.values()) read.isDropped = true;
  }

  private lastKnown(sha256: string): Known | undefined {
    return (this.found.peek(sha256) ?? this.unknown.peek(sha256))?.answer;
  }

  private begin(sha256: string, deadlineAtMs: number): Read {
    const read: Read = { deadlineAtMs, workerUntilMs: undefined, isDropped: false, answer: Promise.resolve().then(() => this.read(sha256, read)) };
    this.reads.set(sha256, read);
    return read;
  }

  private async read(sha256: string, read: Read): Promise<KeyLookup> {
    try {
      for (let poll = 0; ; poll += 1) {
        const text = await textOf(this.options.redis, redisKeys.key(sha256));
        const answer = text === null ? null : parseAnswer(text);
        if (answer !== null) return this.keep(sha256, answer, read);
        this.options.wanted.want(`key:${sha256}`);
        // The store has lost the entry and the worker will put it back: what this node knows is right until it hears otherwise.
        const lastKnown = this.found.peek(sha256)?.answer;
        if (lastKnown !== undefined) return lastKnown;
        read.workerUntilMs ??= performance.now() + WORKER_MS;
        const pauseMs = POLL_MS[Math.min(poll, POLL_MS.length - 1)] ?? 0;
        if (performance.now() + pauseMs >= Math.max(read.deadlineAtMs, read.workerUntilMs)) return UNAVAILABLE;
        await sleepUntil(performance.now() + pauseMs);
      }
    } catch (error) {
      this.options.onError?.(error, 'key-index');
      return UNAVAILABLE;
    } finally {
      if (this.reads.get(sha256) === read) this.reads.delete(sha256);
    }
  }

  /** An answer read before its drop arrived is kept as dropped: it serves this call and is read again by the next. */
  private keep(sha256: string, answer: Known, read: Read): Known {
    const [into, outOf] = answer.status === 'found' ? [this.found, this.unknown] : [this.unknown, this.found];
    outOf.delete(sha256);
    into.set(sha256, { answer, readAtMs: performance.now(), isDropped: read.isDropped });
    return answer;
  }
}

/** Null also where the key is of another type: only the worker can put it right, and it has to hear of it. */
async function textOf(redis: PolicyRedis, key: string): Promise<string | null> {
  try {
    return await redis.get(key);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
    throw error;
  }
}

/** Null for a value in no known format: it counts as absent, and the worker writes it anew. */
function parseAnswer(text: string): Known | null {
  if (text === KEY_TOMBSTONE) return UNKNOWN;
  const record = parseJson(keyRecordSchema, text);
  return record === null ? null : { status: 'found', record };
}
