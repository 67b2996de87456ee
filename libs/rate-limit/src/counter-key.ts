import { createHash } from 'node:crypto';
import { tenantPrefix } from '@quotaplane/contracts';
import type { CounterName } from './store';

/** Longest user-supplied part of a key in bytes; longer ones are hashed. */
const PART_MAX_BYTES = 96;
/** Longest tail after the tenant's prefix, and longest tag in its braces, so that a key stays within 200 bytes (P06). */
const TAIL_MAX_BYTES = 120;
const TAG_MAX_BYTES = 74;
const SAFE = /^[a-z0-9._@-]*$/i;
const LONE_SURROGATE = /\p{Surrogate}/u;

// UTF-16 keeps lone surrogates apart, which UTF-8 would all turn into the same replacement character.
const hashed = (text: string): string => `~${createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 40)}`;

/** Encodes a part so that no two different parts, or lists of parts, meet in one key (C036). */
const part = (text: string): string => {
  if (text.length <= PART_MAX_BYTES && SAFE.test(text)) return text;
  // Lone surrogates would make encodeURIComponent throw; hashing takes any string. Only a hash may begin with '~'.
  const encoded = LONE_SURROGATE.test(text) ? hashed(text) : encodeURIComponent(text).replaceAll('~', '%7E');
  return encoded.length <= PART_MAX_BYTES ? encoded : hashed(text);
};

/**
 * Hash tag of a counter. One tenant's counters share its slot. Callers without a tenant are tagged by their own subject, so that
 * no slot carries them all; `global` limits count everyone and have a slot of their own. '/' cannot occur in a slug.
 */
const tagOf = (name: CounterName): string => {
  if (name.scope === 'global') return 'global';
  if (name.tenant !== 'anonymous') return name.tenant;
  const caller = `${name.scope.replace(':', '.')}/${part(name.subject)}`;
  const tag = `anonymous/${caller}`;
  return tag.length <= TAG_MAX_BYTES ? tag : `anonymous/${hashed(caller)}`;
};

/**
 * Key of a rate counter: tenant, limit name, algorithm, window, scope, subject and what narrows it; never the tier, the limit's value or a revision,
 * so that no edit resets a count. gcra and token-bucket share a state but not a key: a change of algorithm is a new counter.
 */
export const counterKey = (name: CounterName): string => keyOf(name, 'c');

/** Key of the strikes and bans beside a counter; changing the limit's numbers forgives nobody. */
export const penaltyKey = (name: CounterName): string => keyOf(name, 'p');

const keyOf = (name: CounterName, letter: 'c' | 'p'): string => {
  const scope = name.scope === 'global' ? 'global' : name.scope.replace(':', '.');
  const subject = name.scope === 'global' || name.scope === 'tenant' ? '' : part(name.subject);
  const tail = [letter, name.limit, name.algorithm, String(name.windowMs), scope, subject, part(name.narrow ?? '')].join(':');
  return tenantPrefix(tagOf(name)) + (tail.length <= TAIL_MAX_BYTES ? tail : `${letter}:${name.limit.slice(0, 20)}:${hashed(tail)}`);
};

export interface QuotaName {
  readonly tenant: string;
  readonly meter: string;
  readonly periodId: string;
  readonly part: number;
  readonly generation: number;
}

/** Keys of a quota: its counter, and the base the ledger republishes beside it (hash `plus`, `minus`). TTL: period end + 48 h. */
export const quotaKeys = (name: QuotaName): { readonly counter: string; readonly base: string } => {
  const tail = `${name.meter}:${name.periodId}:${name.part}:${name.generation}`;
  const prefix = tenantPrefix(name.tenant);
  return { counter: `${prefix}q:${tail}`, base: `${prefix}b:${tail}` };
};

/** Key of the uses of an Idempotency-Key: of one subject, method and route. All parts are a caller's own, so that only a hash of them is kept. */
export const retryKey = (name: { readonly tenant: string; readonly subject: string; readonly method: string; readonly route: string; readonly key: string }): string =>
  `${tenantPrefix(name.tenant)}i:${createHash('sha256').update(JSON.stringify([name.subject, name.method, name.route, name.key]), 'utf16le').digest('hex').slice(0, 40)}`;

/** Key of the slots in use of one tenant: hash of incarnations. @param name `in-flight` for the tier's concurrency, or what a service caps itself */
export const slotKey = (name: { readonly tenant: string; readonly name: string; readonly generation: number }): string =>
  `${tenantPrefix(name.tenant)}n:${part(name.name)}:${name.generation}`;
