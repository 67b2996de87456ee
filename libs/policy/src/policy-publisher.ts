import {
  CHANGE_FEED_LENGTH, formatHead, HEAD_DELETED, HEAD_UNKNOWN, HEAD_UNKNOWN_TTL_MS, KEY_TOMBSTONE, redisKeys,
  type ClassCatalogue, type FeedEntry, type KeyRecord, type ListsDocument, type Policy,
} from '@quotaplane/contracts';
import type { CompiledSubjects } from './compile-subjects';
import type { PolicyRedis } from './policy-redis';
import { parseDocumentReply, parseFeedId, parseFlag, parseTenantReply, type DocumentPublished, type Published, type TenantPublished } from './publish-replies';
import { publishSubjects } from './publish-subjects';
import { runScript } from './run-script';
import { PublishError } from './store-errors';
import type { ScriptName } from './lua/scripts.generated';

export interface TenantPublication {
  readonly policy: Policy;
  readonly generation: number;
  /** What `compileSubjects` made of the same source as the policy; absent or empty when no single subject has overrides. */
  readonly subjects?: CompiledSubjects;
  /** Empty for a republication that no change caused. */
  readonly changeId: string;
}

/** How long a revoked key is remembered, ms. Past it the index has no entry, and the worker answers from Postgres. */
const REVOCATION_TTL_MS = 40 * 86_400_000;

/**
 * Worker side of the change road. Every method rejects with PublishError when Redis does not answer; repeating any of them is harmless.
 *
 * The keys are written first, then the feed is told in a second command, for in a cluster the two are in different slots. An entry
 * never comes before what it names, so that whoever drops at an entry reads at least that. A crash in between leaves the feed untold: the
 * change is not marked done, is delivered again, writes nothing and tells the feed.
 */
export class PolicyPublisher {
  constructor(private readonly options: { readonly redis: PolicyRedis }) {}

  /**
   * Writes the overrides of single subjects, then policy and head in one step, each if newer; announces what Redis then holds in any case.
   * A guard that knows the head thus finds overrides that are at least as new.
   */
  async publishTenant({ policy, generation, subjects, changeId }: TenantPublication): Promise<TenantPublished> {
    const { tenant, revision } = policy;
    const hasSubjects = subjects !== undefined && subjects.size > 0;
    if (hasSubjects) await publishSubjects((script, keys, args) => this.run(script, keys, args), { tenant, revision, generation, subjects });
    const keys = [redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.subjects(tenant)];
    const held = parseTenantReply(await this.run('publish-policy', keys, [revision, generation, JSON.stringify(policy), hasSubjects ? '1' : '']));
    const position = await this.announce({ topic: 'tenant', subject: tenant, revision: formatHead(held.revision, held.generation), changeId });
    return { ...held, position, isRedisAhead: held.revision > policy.revision || held.generation > generation };
  }

  /** Head `deleted` without TTL, policy and overrides of single subjects removed. */
  async publishDeleted({ tenant, changeId }: { readonly tenant: string; readonly changeId: string }): Promise<Published> {
    const keys = [redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.subjects(tenant)];
    const isWritten = parseFlag(await this.run('publish-deleted', keys, [HEAD_DELETED]));
    return { isWritten, position: await this.announce({ topic: 'tenant', subject: tenant, revision: HEAD_DELETED, changeId }) };
  }

  /** Answers a wanted tenant that does not exist: head `unknown` for 60 s, only where there is none. Not announced: strangers could flood the feed. */
  answerUnknown(tenant: string): Promise<boolean> {
    return this.setIfAbsent(redisKeys.head(tenant), HEAD_UNKNOWN);
  }

  /** A record without TTL, or null for a revocation, which is final: kept 40 days, never overwritten by a record. */
  async publishKey(sha256: string, record: KeyRecord | null, changeId = ''): Promise<Published> {
    const text = record === null ? KEY_TOMBSTONE : JSON.stringify(record);
    const args = [text, KEY_TOMBSTONE, REVOCATION_TTL_MS, HEAD_UNKNOWN_TTL_MS];
    const isWritten = parseFlag(await this.run('publish-key', [redisKeys.key(sha256)], args));
    return { isWritten, position: await this.announce({ topic: 'key', subject: sha256, revision: '', changeId }) };
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

  /** Written unless Redis holds a higher revision. */
  publishLists(lists: ListsDocument, changeId = ''): Promise<DocumentPublished> {
    return this.publishDocument(redisKeys.lists, 'lists', lists, changeId);
  }

  private async publishDocument(key: string, topic: FeedEntry['topic'], document: { readonly revision: number }, changeId: string): Promise<DocumentPublished> {
    const held = parseDocumentReply(await this.run('publish-document', [key], [JSON.stringify(document), document.revision]));
    const position = await this.announce({ topic, subject: '', revision: String(held.revision), changeId });
    return { ...held, position, isRedisAhead: held.revision > document.revision };
  }

  /** @returns feed id */
  private async announce({ topic, subject, revision, changeId }: FeedEntry): Promise<string> {
    const fields = ['topic', topic, 'subject', subject, 'revision', revision, 'changeId', changeId];
    try {
      return parseFeedId(await this.options.redis.xadd(redisKeys.changes, 'MAXLEN', '~', CHANGE_FEED_LENGTH, '*', ...fields));
    } catch (cause) {
      throw new PublishError(redisKeys.changes, cause);
    }
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
