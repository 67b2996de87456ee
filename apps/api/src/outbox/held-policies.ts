import { policySchema, redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

/** What Redis holds of a tenant. */
export interface HeldPolicy {
  /** Null where there is none, or something that is no head. */
  readonly head: string | null;
  /** A policy is there; where it was doubted, guards can read it, too. */
  readonly hasPolicy: boolean;
}

/**
 * Reads heads, and whether their policies are there. A key of another type counts as absent: it must not keep the other tenants of a page waiting.
 * @param isDoubted a guard has found something amiss: read the policies, too, instead of only looking for them
 */
export async function readHeldPolicies(redis: Redis, slugs: readonly string[], isDoubted: boolean): Promise<HeldPolicy[]> {
  const heads = slugs.map((slug) => textOf(redis, redisKeys.head(slug)));
  const policies = slugs.map((slug) => (isDoubted ? textOf(redis, redisKeys.policy(slug)) : redis.type(redisKeys.policy(slug))));
  const [headTexts, policyTexts] = await Promise.all([Promise.all(heads), Promise.all(policies)]);
  return slugs.map((slug, index) => {
    const text = policyTexts[index] ?? null;
    return { head: headTexts[index] ?? null, hasPolicy: isDoubted ? text !== null && isPolicyOf(slug, text) : text === 'string' };
  });
}

/** @returns null also where the key is of another type */
export async function textOf(redis: Redis, key: string): Promise<string | null> {
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
