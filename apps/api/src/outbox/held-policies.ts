import { policySchema, redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

/** What Redis holds of a tenant. */
export interface HeldPolicy {
  /** Null where there is none, or something that is no head. */
  readonly head: string | null;
  /** A policy is there; where it was doubted, guards can read it, too. */
  readonly hasPolicy: boolean;
}

/** How closely policies are looked at: not at all, whether they are there, or whether guards can read them, which a guard has come to doubt. */
export type PolicyCheck = 'none' | 'presence' | 'doubt';

/**
 * Reads heads, and whether their policies are there. A key of another type counts as absent: it must not keep the other tenants of a page waiting.
 */
export async function readHeldPolicies(redis: Redis, slugs: readonly string[], check: PolicyCheck): Promise<HeldPolicy[]> {
  if (slugs.length === 0) return [];
  // MGET takes a key of another type for absent.
  const [heads, policies] = await Promise.all([
    redis.mget(slugs.map((slug) => redisKeys.head(slug))),
    check === 'none' ? [] : Promise.all(slugs.map((slug) => (check === 'doubt' ? textOf(redis, redisKeys.policy(slug)) : redis.type(redisKeys.policy(slug))))),
  ]);
  return slugs.map((slug, index) => {
    const text = policies[index] ?? null;
    return { head: heads[index] ?? null, hasPolicy: check === 'doubt' ? text !== null && isPolicyOf(slug, text) : text === 'string' };
  });
}

/** @returns null also where the key is of another type */
async function textOf(redis: Redis, key: string): Promise<string | null> {
  try {
    return await redis.get(key);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
    throw error;
  }
}

function isPolicyOf(slug: string, text: string): boolean {
  try {
    const parsed = policySchema.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.tenant === slug;
  } catch {
    return false;
  }
}
