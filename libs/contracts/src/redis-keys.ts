/**
 * Every key Quotaplane owns in Redis, in one place. The braces are the cluster hash tag: all that one tenant owns is in one slot.
 * Counters are named by rate-limit (`counterKey`, `quotaKey`), under {@link tenantPrefix}. Who writes and reads each: docs/redis-keys.md.
 */
export const tenantPrefix = (tag: string): string => `qp:{${tag}}:`;

export const redisKeys = {
  /** string `revision.generation`, `unknown` (60 s) or `deleted`; no TTL. */
  head: (tenant: string) => `${tenantPrefix(tenant)}head`,
  /** string, JSON of a Policy; no TTL. */
  policy: (tenant: string) => `${tenantPrefix(tenant)}policy`,
  /** hash, field `<scope>:<id>` -> JSON of a SubjectPolicy, and what its publisher keeps there: `#revision`, and digests `#1` to `#256`; no TTL. Read with a stale answer, for the subject at hand only. */
  subjects: (tenant: string) => `${tenantPrefix(tenant)}subjects`,
  /** string, JSON of a KeyRecord or `none`; no TTL but for 60 s tombstones of unknown keys. */
  key: (sha256Hex: string) => `qp:key:${sha256Hex}`,
  /** string, JSON of a ClassCatalogue; no TTL. */
  classes: 'qp:classes',
  /** string, JSON of the fallback Policy; no TTL. */
  fallback: 'qp:fallback',
  /** string, JSON of a ListsDocument; no TTL. */
  lists: 'qp:lists',
  /** hash, JSON [tenant, limit, scope, subject] -> JSON of an AutomaticPenalty; ended ones are dropped by the worker. */
  penalties: 'qp:penalties',
  /** set of `tenant:<slug>`, `key:<sha256>`, `classes`, `fallback`, `lists`: what a guard missed; bounded. */
  wanted: 'qp:wanted',
  /** stream, the change feed; trimmed to about CHANGE_FEED_LENGTH. */
  changes: 'qp:changes',
  /** hash, incarnation -> JSON of a Heartbeat. */
  nodes: 'qp:nodes',
  /** hash, one incarnation's journal: field -> count that only grows, plus `#seq`, `#at`, `#dirty`, `#closed`, `#service`; 40 days. */
  journal: (incarnation: string) => `qp:journal:${incarnation}`,
  /** set of incarnations that have a journal. */
  journals: 'qp:journals',
  /** set of incarnations that have ended and are folded whole; their hashes stay for the reconciliation of statements until their TTL ends. */
  journalsEnded: 'qp:journals-ended',
  /** hash, incarnation -> last sequence folded into Postgres; written by the worker after its commit. */
  journalAcks: 'qp:journal-acks',
  /** hash, `<node>.<life>` -> JSON of an OffenderDocument: that node's denials in that minute; 3 h. */
  offenders: (minuteEpoch: number) => `qp:offenders:${minuteEpoch}`,
  /** hash, `tenant|allowed`, `tenant|units`, `tenant|denied|<limit>` -> count in that minute; 3 h. Statistics, never a bill. */
  traffic: (minuteEpoch: number) => `qp:traffic:${minuteEpoch}`,
} as const;

export const CHANGE_FEED_LENGTH = 10_000;
/** Most members of `qp:wanted`; past it a miss is dropped and asked again by the next call. */
export const WANTED_MAX = 100_000;
export const HEAD_UNKNOWN_TTL_MS = 60_000;
export const JOURNAL_TTL_MS = 40 * 86_400_000;
export const MINUTE_STATS_TTL_MS = 3 * 3_600_000;
/** A node whose last word is older is not alive. */
export const NODE_ALIVE_MS = 5_000;
