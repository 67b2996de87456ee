import { redisKeys } from '@quotaplane/contracts';
import { z } from 'zod';
import type { FeedRedis } from './policy-redis';
import { STREAM_START } from './stream-id';

/** One life of the feed's own connection. A command that gets no answer in time rejects, and the connection is given up. */
export interface FeedConnection {
  /** First and last id in the stream; both STREAM_START while there is none. */
  bounds(): Promise<{ readonly first: string; readonly last: string }>;
  /** Entries after an id; waits up to a second for the first. */
  read(after: string, count: number): Promise<readonly { readonly id: string; readonly fields: Readonly<Record<string, string>> }[]>;
  close(): void;
}

/** Longest block of a read on the store's side, ms. */
const BLOCK_MS = 1_000;
/** Longest silence before a connection counts as dead, ms: a store that hangs never closes it. */
const SILENCE_MS = 700;

const entryReply = z.tuple([z.string(), z.array(z.string())]);
const readReply = z.tuple([z.tuple([z.string(), z.array(entryReply)])]).nullable();

/** Opens a fresh connection and waits until it is ready. Its own reconnecting is not used: a new one is free of whatever went wrong. */
export async function openFeed(connect: () => FeedRedis, onError: (error: unknown) => void): Promise<FeedConnection> {
  const redis = connect();
  redis.on('error', onError);
  try {
    await answered(ready(redis), SILENCE_MS);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    close: () => redis.disconnect(),
    async bounds() {
      const [oldest, newest] = await answered(Promise.all([
        redis.xrange(redisKeys.changes, '-', '+', 'COUNT', 1),
        redis.xrevrange(redisKeys.changes, '+', '-', 'COUNT', 1),
      ]), SILENCE_MS);
      return { first: oldest[0]?.[0] ?? STREAM_START, last: newest[0]?.[0] ?? STREAM_START };
    },
    async read(after, count) {
      const reply = await answered(redis.xread('COUNT', count, 'BLOCK', BLOCK_MS, 'STREAMS', redisKeys.changes, after), BLOCK_MS + SILENCE_MS);
      const [stream] = readReply.parse(reply) ?? [];
      return (stream?.[1] ?? []).map(([id, flat]) => ({ id, fields: pairs(flat) }));
    },
  };
}

function ready(redis: FeedRedis): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  // Lazy connections wait to be told; its rejection is the `error` or `close` heard below.
  if (redis.status === 'wait') redis.connect().catch(() => undefined);
  return new Promise((resolve, reject) => {
    redis.once('ready', resolve);
    redis.once('close', () => reject(new FeedSilentError('The connection of the change feed was closed')));
  });
}

async function answered<Reply>(reply: Promise<Reply>, patienceMs: number): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    // After a stall of this process the answer may already be in the socket: one turn of the event loop lets it in first.
    timer = setTimeout(() => setImmediate(() => reject(new FeedSilentError(`The store has not answered the change feed for ${patienceMs} ms`))), patienceMs);
  });
  try {
    return await Promise.race([reply, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** The feed's connection did not answer in time or was closed; the feed opens the next one. */
export class FeedSilentError extends Error {
  override readonly name = 'FeedSilentError';
}

function pairs(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  return fields;
}
