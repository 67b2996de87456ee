import type { ClassCatalogue, KeyRecord, Policy } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

/** What a publish left in Redis. `position` is the feed id that receipts are compared with. */
export interface Published {
  /** False when the store already held this or something newer. */
  readonly isWritten: boolean;
  readonly position: string;
}
export interface TenantPublished extends Published {
  /** Revision and generation in Redis now. */
  readonly revision: number;
  readonly generation: number;
  /** Redis holds a higher revision or generation than was published: raise the row above both, alarm, publish again. Certain only under the tenant's row lock. */
  readonly isRedisAhead: boolean;
}
export interface DocumentPublished extends Published {
  readonly revision: number;
  readonly isRedisAhead: boolean;
}
export interface TenantPublication {
  readonly policy: Policy;
  readonly generation: number;
  /** Empty for republications that no change caused. */
  readonly changeId: string;
}

/** Worker side. Every method rejects with PublishError when Redis does not answer; repeating any of them is harmless. */
export class PolicyPublisher {
  constructor(private readonly options: { readonly redis: Redis }) {}
  publishTenant(publication: TenantPublication): Promise<TenantPublished> { throw new Error(publication.changeId + String(this.options)); }
  publishDeleted(deletion: { readonly tenant: string; readonly changeId: string }): Promise<Published> { throw new Error(deletion.changeId); }
  /** Head `unknown` for 60 s, only where there is none. @returns whether it was written */
  answerUnknown(tenant: string): Promise<boolean> { throw new Error(tenant); }
  /** A record, or null for a revocation (kept 40 days; a record never overwrites it). */
  publishKey(sha256: string, record: KeyRecord | null, options?: { readonly changeId?: string }): Promise<Published> { throw new Error(sha256 + String(record) + String(options)); }
  /** Tombstone for 60 s, only where there is no entry. Not announced: strangers could flood the feed. */
  answerUnknownKey(sha256: string): Promise<boolean> { throw new Error(sha256); }
  publishClasses(catalogue: ClassCatalogue, changeId?: string): Promise<DocumentPublished> { throw new Error(String(catalogue) + changeId); }
  publishFallback(policy: Policy, changeId?: string): Promise<DocumentPublished> { throw new Error(String(policy) + changeId); }
  /** Head of a tenant as Redis holds it; null when absent. */
  readHead(tenant: string): Promise<string | null> { throw new Error(tenant); }
}
