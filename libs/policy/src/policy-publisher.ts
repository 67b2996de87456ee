import {
  CHANGE_FEED_LENGTH, formatHead, HEAD_DELETED, HEAD_UNKNOWN, HEAD_UNKNOWN_TTL_MS, KEY_TOMBSTONE, redisKeys,
  type ClassCatalogue, type FeedEntry, type KeyRecord, type ListsDocument, type Policy,
} from '@quotaplane/contracts';
import type { CompiledSubjects } from './compile-subjects';
import type { PolicyRedis } from './policy-redis';
import { policiesCall } from './policies-call';
import { parseDocumentReply, parseFeedIds, parseFlag, parseTenantReplies, type DocumentPublished, type Published, type TenantPublished } from './publish-replies';
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

/** Tenants written in one call: a policy of 13 KB takes Redis about 10 us, and nobody should wait for much more than half a ms. */
const TENANTS_PER_CALL = 48;
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
  async publishTenant(publication: TenantPublication): Promise<TenantPublished> {
    const [published] = await this.publishTenants([publication]);
    if (published === undefined) throw new PublishError(publication.policy.tenant, undefined);
    return published;
  }

  /**
   * The same for many tenants: each as a whole or not at all, some in one call. Segments that several policies share (the same array) are sent
   * once a call. In a cluster a call has one tenant. @returns in the order given
   */
  async publishTenants(publications: readonly TenantPublication[]): Promise<TenantPublished[]> {
    for (const { policy: { tenant, revision }, generation, subjects } of publications) {
      if (subjects !== undefined && subjects.size > 0) await publishSubjects((script, keys, args) => this.run(script, keys, args), { tenant, revision, generation, subjects });
    }
    if (this.options.redis.isCluster) return (await Promise.all(publications.map((one) => this.publishTogether([one])))).flat();
    const published: TenantPublished[] = [];
    for (let from = 0; from < publications.length; from += TENANTS_PER_CALL) {
      // One after the other: calls that wait in Redis behind each other would keep the guards' checks waiting for all of them.
      published.push(...(await this.publishTogether(publications.slice(from, from + TENANTS_PER_CALL))));
    }
    return published;
  }

  /** Head `deleted` without TTL, policy and overrides of single subjects removed. */
  async publishDeleted({ tenant, changeId }: { readonly tenant: string; readonly changeId: string }): Promise<Published> {
    const keys = [redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.subjects(tenant)];
    const isWritten = parseFlag(await this.run('publish-deleted', keys, [HEAD_DELETED]));
    return { isWritten, position: await this.announceOne({ topic: 'tenant', subject: tenant, revision: HEAD_DELETED, changeId }) };
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
    return { isWritten, position: await this.announceOne({ topic: 'key', subject: sha256, revision: '', changeId }) };
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
    const position = await this.announceOne({ topic, subject: '', revision: String(held.revision), changeId });
    return { ...held, position, isRedisAhead: held.revision > document.revision };
  }

  private async publishTogether(publications: readonly TenantPublication[]): Promise<TenantPublished[]> {
    const { keys, args } = policiesCall(publications);
    const replies = parseTenantReplies(await this.run('publish-policies', keys, args));
    const held = publications.map((publication, index) => {
      const reply = replies[index];
      if (reply === undefined || !reply.isTurn) {
        throw new PublishError(redisKeys.subjects(publication.policy.tenant), new RangeError('overrides of another publisher are in the place of those of this one'));
      }
      return { publication, reply };
    });
    const positions = await this.announce(held.map(({ publication: { policy, changeId }, reply }) =>
      ({ topic: 'tenant', subject: policy.tenant, revision: formatHead(reply.revision, reply.generation), changeId })));
    return held.map(({ publication: { policy, generation }, reply: { isWritten, revision, generation: heldGeneration, headMet } }, index) => ({
      isWritten, revision, generation: heldGeneration, headMet, position: positions[index] ?? '',
      isRedisAhead: revision > policy.revision || heldGeneration > generation,
    }));
  }

  private async announceOne(entry: FeedEntry): Promise<string> {
    return (await this.announce([entry]))[0] ?? '';
  }

  /** @returns feed ids */
  private async announce(entries: readonly FeedEntry[]): Promise<string[]> {
    const args = entries.flatMap(({ topic, subject, revision, changeId }) => [topic, subject, revision, changeId]);
    return parseFeedIds(await this.run('announce', [redisKeys.changes], [CHANGE_FEED_LENGTH, ...args]), entries.length);
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
