import { classCatalogueSchema, fallbackPolicySchema, listsDocumentSchema, redisKeys, type ClassCatalogue, type ListsDocument, type Policy } from '@quotaplane/contracts';
import { CachedDocument } from './cached-document';
import { EverySecond } from './every-second';
import { parseJson } from './parse-json';
import type { PolicyRedis } from './policy-redis';
import type { OnStoreError } from './store-errors';
import type { Wanted } from './wanted';

export interface CatalogueCacheOptions {
  readonly redis: PolicyRedis;
  readonly wanted: Pick<Wanted, 'want'>;
  readonly onError?: OnStoreError;
}

/**
 * Endpoint classes, the fallback policy and the lists: read at start, when the feed names them, and each second, so that a change is live
 * within 2 s even where the feed is cut. The last good ones stay while the store is away. Each is read by itself: in a cluster they are on
 * different servers, of which one may be away.
 */
export class CatalogueCache {
  private readonly ticks = new EverySecond(() => this.refresh());
  private readonly classDocument = new CachedDocument(redisKeys.classes, (text) => parseJson(classCatalogueSchema, text));
  private readonly fallbackDocument = new CachedDocument(redisKeys.fallback, (text) => parseJson(fallbackPolicySchema, text));
  private readonly listsDocument = new CachedDocument(redisKeys.lists, (text) => parseJson(listsDocumentSchema, text));

  constructor(private readonly options: CatalogueCacheOptions) {}

  /** Undefined until it was found once. Allocates nothing. */
  classes(): ClassCatalogue | undefined {
    return this.classDocument.content;
  }

  /** The policy of unknown and deleted tenants; undefined until it was found once. Allocates nothing. */
  fallback(): Policy | undefined {
    return this.fallbackDocument.content;
  }

  /** Allow and deny entries and penalties set by hand; undefined until it was found once. Allocates nothing. */
  lists(): ListsDocument | undefined {
    return this.listsDocument.content;
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
    await Promise.all([this.read(this.classDocument, 'classes'), this.read(this.fallbackDocument, 'fallback'), this.read(this.listsDocument, 'lists')]);
  }

  /** Absent, or in no format we know: the worker is asked to write it anew. */
  private async read(document: CachedDocument<unknown>, member: 'classes' | 'fallback' | 'lists'): Promise<void> {
    try {
      if (!(await document.refresh(this.options.redis))) this.options.wanted.want(member);
    } catch (error) {
      this.options.onError?.(error, 'catalogue');
    }
  }
}
