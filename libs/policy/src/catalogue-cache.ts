import type { ClassCatalogue, Policy } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';
import type { Wanted } from './wanted';

export interface CatalogueCacheOptions {
  readonly redis: Redis;
  readonly wanted: Wanted;
  readonly onError?: OnStoreError;
}

/** Classes and fallback policy, live within 2 s of a change, last known good while the store is away. */
export class CatalogueCache {
  constructor(private readonly options: CatalogueCacheOptions) {}
  /** Undefined until the first read that found it. */
  classes(): ClassCatalogue | undefined { throw new Error('not built'); }
  fallback(): Policy | undefined { throw new Error('not built'); }
  /** Reads both and starts the poll of each second. Resolves also when the store is away. */
  start(): Promise<void> { throw new Error('not built'); }
  refresh(): Promise<void> { throw new Error(String(this.options)); }
  stop(): void { throw new Error('not built'); }
}
