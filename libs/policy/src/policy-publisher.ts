import {
  CHANGE_FEED_LENGTH, formatHead, HEAD_DELETED, HEAD_UNKNOWN, HEAD_UNKNOWN_TTL_MS, KEY_TOMBSTONE, redisKeys,
  type ClassCatalogue, type KeyRecord, type Policy,
} from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { parseFlagAndId, parseDocumentReply, parseTenantReply, type DocumentPublished, type Published, type TenantPublished } from './publish-replies';
import { runScript } from './run-script';
import { PublishError } from './store-errors';
import type { ScriptName } from './lua/scripts.generated';

export interface TenantPublication {
  readonly policy: Policy;
  readonly generation: number;
  /** Empty for a republication that no change caused. */
  readonly changeId: string;
}

/** How long a revoked key is remembered, ms. Past it the index has no entry, and the worker answers from Postgres. */
const REVOCATION_TTL_MS = 40 * 86_400_000;

/** Worker side of the change road. Every method rejects with PublishError when Redis does not answer; repeating any of them is harmless. */
export class PolicyPublisher {
  constructor(private readonly options: { readonly redis: Redis }) {}

  /** Writes policy and head in one step if they are newer; announces in any case. */
  async publishTenant({ policy, generation, changeId }: TenantPublication): Promise<TenantPublished> {
    const keys = [redisKeys.head(policy.tenant), redisKeys.policy(policy.tenant), redisKeys.changes];
    const args = [policy.revision, generation, JSON.stringify(policy), policy.tenant, changeId, CHANGE_FEED_LENGTH];
    const held = parseTenantReply(await this.run('publish-policy', keys, args));
    return { ...held, isRedisAhead: held.revision > policy.revision || held.generation > generation };
  }

  /** Head `deleted` without TTL, policy removed. */
  async publishDeleted({ tenant, changeId }: { readonly tenant: string; readonly changeId: string }): Promise<Published> {
    const keys = [redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.changes];
    return parseFlagAndId(await this.run('publish-deleted', keys, [HEAD_DELETED, tenant, changeId, CHANGE_FEED_LENGTH]));
  }

  /** Answers a wanted tenant that does not exist: head `unknown` for 60 s, only where there is none. Not announced: strangers could flood the feed. */
  answerUnknown(tenant: string): Promise<boolean> {
    return this.setIfAbsent(redisKeys.head(tenant), HEAD_UNKNOWN);
  }

  /** A record without TTL, or null for a revocation, which is final: kept 40 days, never overwritten by a record. */
  async publishKey(sha256: string, record: KeyRecord | null, changeId = ''): Promise<Published> {
    const text = record === null ? KEY_TOMBSTONE : JSON.stringify(record);
    const args = [text, KEY_TOMBSTONE, REVOCATION_TTL_MS, HEAD_UNKNOWN_TTL_MS, sha256, changeId, CHANGE_FEED_LENGTH];
    return parseFlagAndId(await this.run('publish-key', [redisKeys.key(sha256), redisKeys.changes], args));
  }

  /** Answers a wanted key that does not exist: a tombstone for 60 s, only where there is no entry. Not announced. */
  answerUnknownKey(sha256: string): Promise<boolean> {
    return this.setIfAbsent(redisKeys.key(sha256), KEY_TOMBSTONE);
  }

  /** Written unless Redis holds a higher revision. */
  publishClasses(catalogue: ClassCatalogue, changeId = ''): Promise<DocumentPublished> {
    return this.publishDocument(redisKeys.classes, 'classes', catalogue, changeId);
  }

  /** Written unless Redis holds a higher revision. */
  publishFallback(policy: Policy, changeId = ''): Promise<DocumentPublished> {
    return this.publishDocument(redisKeys.fallback, 'fallback', policy, changeId);
  }

  private async publishDocument(key: string, topic: 'classes' | 'fallback', document: { readonly revision: number }, changeId: string): Promise<DocumentPublished> {
    const args = [JSON.stringify(document), document.revision, topic, changeId, CHANGE_FEED_LENGTH];
    const held = parseDocumentReply(await this.run('publish-document', [key, redisKeys.changes], args));
    return { ...held, isRedisAhead: held.revision > document.revision };
  }

  private async setIfAbsent(key: string, value: string): Promise<boolean> {
    try {
      return (await this.options.redis.set(key, value, 'PX', HEAD_UNKNOWN_TTL_MS, 'NX')) === 'OK';
    } catch (cause) {
      throw new PublishError(key, cause);
    }
  }

  private async run(script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await runScript(this.options.redis, script, keys, args);
    } catch (cause) {
      throw new PublishError(keys[0] ?? script, cause);
    }
  }
}

/** The head a publication writes, for a caller that waits for it in a cache. */
export const headOf = ({ policy, generation }: Pick<TenantPublication, 'policy' | 'generation'>): string => formatHead(policy.revision, generation);
