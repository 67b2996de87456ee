import { createHash } from 'node:crypto';
import { API_KEY_HEADER, USER_ID_HEADER } from '@quotaplane/contracts';
import type { KeyIndex, KeyLookup } from '@quotaplane/policy';
import { RecentMap } from '../decide/recent-map';
import { hashSecret, hasValidChecksum, isDemoKey } from '../key-format';
import { headerOf, type GuardedRequest, type Identity, type IdentityResolver } from './identity';

const KEY_HEADER = API_KEY_HEADER.toLowerCase();
const USER_HEADER = USER_ID_HEADER.toLowerCase();
/** Longest user id that is used as it is; longer ones are hashed. */
const USER_ID_MAX = 96;
/** Longest header that is looked at: a secret has 53 characters. */
const KEY_MAX = 128;

/**
 * The default resolver: the tenant of the platform's API key in `X-Api-Key`, the user in `X-User-Id` (the key's own user, where it has one, wins).
 * No key: anonymous. A key that the platform does not know: unauthenticated, never anonymous. While the store is away a well-formed key that this
 * node has not met cannot be told from an unknown one: it is `unavailable`, decided by the class's fail mode on the default limits.
 */
export class ApiKeyIdentity implements IdentityResolver {
  /**
   * Hashes of the secrets met lately: hashing and checking one costs more than all the rest of this. In memory only, where they come with every request
   * anyway, and bounded.
   */
  private readonly hashes = new RecentMap<string>();

  /**
   * @internal The module makes it; a function as option `identity` receives it.
   * @param budgetMs longest wait for the key index in ms
   * @param isStoreAway true while the store is known not to answer: what this node remembers of a key then stands without a wait
   */
  constructor(
    private readonly keys: Pick<KeyIndex, 'peek' | 'lookup'>,
    private readonly budgetMs: number,
    private readonly isStoreAway: () => boolean,
  ) {}

  resolve(request: GuardedRequest): Identity | Promise<Identity> {
    const secret = headerOf(request, KEY_HEADER);
    if (secret === undefined) return { kind: 'anonymous' };
    const hash = this.hashOf(secret);
    if (hash === undefined) return { kind: 'unauthenticated', detail: 'this is not an API key' };
    const cached = this.keys.peek(hash);
    if (cached) return identityOf(cached, request);
    const waitMs = this.isStoreAway() ? 0 : this.budgetMs;
    return this.keys.lookup(hash, performance.now() + waitMs).then((found) => identityOf(found, request));
  }

  /** Undefined: no key. Garbage and typing errors never reach the store. */
  private hashOf(secret: string): string | undefined {
    const known = this.hashes.get(secret);
    if (known !== undefined) return known;
    if (secret.length > KEY_MAX || !(hasValidChecksum(secret) || isDemoKey(secret))) return undefined;
    const hash = hashSecret(secret);
    this.hashes.set(secret, hash);
    return hash;
  }
}

function identityOf(lookup: KeyLookup, request: GuardedRequest): Identity {
  if (lookup.status === 'unavailable') return { kind: 'unavailable' };
  if (lookup.status === 'unknown') return { kind: 'unauthenticated', detail: 'this API key is unknown or revoked' };
  const { tenant, keyId, userId, kind } = lookup.record;
  return { kind: 'tenant', tenant, keyId, keyKind: kind, userId: userId ?? boundedUserId(headerOf(request, USER_HEADER)) };
}

function boundedUserId(userId: string | undefined): string | undefined {
  if (userId === undefined || userId.length <= USER_ID_MAX) return userId;
  return `~${createHash('sha256').update(userId).digest('hex').slice(0, 40)}`;
}
