import { createHash } from 'node:crypto';
import { classCatalogueSchema, fallbackPolicySchema, redisKeys, type ClassCatalogue, type Policy } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { EverySecond } from './every-second';
import { parseJson } from './parse-json';
import { runScript } from './run-script';
import type { OnStoreError } from './store-errors';
import type { Wanted } from './wanted';

export interface CatalogueCacheOptions {
  readonly redis: Redis;
  readonly wanted: Pick<Wanted, 'want'>;
  readonly onError?: OnStoreError;
}

/** The last good text of one document, parsed once; `sha1` tells the store what need not be sent again. */
class CachedDocument<Content> {
  content: Content | undefined;
  sha1 = '';

  constructor(private readonly parse: (text: string) => Content | null) {}

  /** @returns false where the text is none of ours; the last good content stays */
  take(text: string): boolean {
    const content = this.parse(text);
    if (content === null) return false;
    this.content = content;
    this.sha1 = createHash('sha1').update(text).digest('hex');
    return true;
  }
}

const changedReply = z.tuple([z.string().nullable(), z.string().nullable()]);

/**
 * Endpoint classes and the fallback policy: read at start, when the feed names them, and each second, so that a change is live within 2 s
 * even where the feed is cut. The last good ones stay while the store is away.
 */
export class CatalogueCache {
  private readonly ticks = new EverySecond(() => this.refresh());
  private readonly classDocument = new CachedDocument((text) => parseJson(classCatalogueSchema, text));
  private readonly fallbackDocument = new CachedDocument((text) => parseJson(fallbackPolicySchema, text));
  private begunReads = 0;
  private takenRead = 0;

  constructor(private readonly options: CatalogueCacheOptions) {}

  /** Undefined until it was found once. Allocates nothing. */
  classes(): ClassCatalogue | undefined {
    return this.classDocument.content;
  }

  /** The policy of unknown and deleted tenants; undefined until it was found once. Allocates nothing. */
  fallback(): Policy | undefined {
    return this.fallbackDocument.content;
  }

  /** First read, then one each second. Resolves also when the store is away. */
  start(): Promise<void> {
    return this.ticks.start();
  }

  stop(): void {
    this.ticks.stop();
  }

  /** Reads what has changed; never rejects. */
  async refresh(): Promise<void> {
    const read = (this.begunReads += 1);
    try {
      const known = [this.classDocument.sha1, this.fallbackDocument.sha1];
      const [classes, fallback] = changedReply.parse(await runScript(this.options.redis, 'read-changed', [redisKeys.classes, redisKeys.fallback], known));
      // A read that was sent again by its text may be overtaken by a later one.
      if (read < this.takenRead) return;
      this.takenRead = read;
      this.take(this.classDocument, classes, 'classes');
      this.take(this.fallbackDocument, fallback, 'fallback');
    } catch (error) {
      this.options.onError?.(error, 'catalogue');
    }
  }

  /** Absent, or in no format we know: the worker is asked to write it anew. */
  private take(document: CachedDocument<unknown>, text: string | null, member: 'classes' | 'fallback'): void {
    if (text === '') return;
    if (text === null || !document.take(text)) this.options.wanted.want(member);
  }
}
