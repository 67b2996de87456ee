import { parseHead, redisKeys, tenantPrefix, type UsageItem } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

const numberOf = (text: string | null): number => Number(text ?? 0);

/**
 * What the check script holds against the allowance of a tenant's running period: counter + plus - minus of the head's generation, all of one instant.
 * @returns undefined without a head
 */
export async function enforcedUse(redis: Redis, tenant: string, periodId: string, meter = 'requests'): Promise<number | undefined> {
  for (;;) {
    const text = await redis.get(redisKeys.head(tenant));
    const head = text === null ? null : parseHead(text);
    if (!head) return undefined;
    const tail = `${meter}:${periodId}:1:${head.generation}`;
    const read = redis.multi().get(redisKeys.head(tenant)).get(`${tenantPrefix(tenant)}q:${tail}`).hmget(`${tenantPrefix(tenant)}b:${tail}`, 'plus', 'minus');
    const [now, counter, base] = ((await read.exec()) ?? []).map(([, reply]) => reply as string | null | (string | null)[]);
    // A generation that was raised between the two reads is read anew.
    if (now !== text || Array.isArray(counter) || !Array.isArray(base)) continue;
    return numberOf(counter ?? null) + numberOf(base[0] ?? null) - numberOf(base[1] ?? null);
  }
}

/** The parts of a tenant's use that are not nothing, for a proof's printed figures. */
export const partsOf = (item: UsageItem | undefined): string =>
  Object.entries(item?.breakdown ?? {}).filter(([, units]) => units !== '0').map(([name, units]) => `${name} ${units}`).join(', ');
