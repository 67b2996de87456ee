import { formatHead, type Limit, type TierContent } from '@quotaplane/contracts';
import { compile, PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, LAYERED_TENANTS, SUBJECTS, tenantOf, WINDOW_MS } from './scenario';

const GENERATION = 1;
const MONTH_MS = 30 * DAY_MS;
/** Publications under way at once. */
const BATCH = 500;

/** Head of every tenant that was published once. */
export const HEAD = formatHead(1, GENERATION);

const limitOf = (parts: Partial<Limit>): Limit =>
  ({ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: LARGE_LIMIT, windowMs: WINDOW_MS, mode: 'enforce', ...parts });
const FOUR: readonly Limit[] = [
  limitOf({ name: 'tenant' }),
  limitOf({ name: 'user', scope: 'user' }),
  limitOf({ name: 'key', scope: 'key' }),
  limitOf({ name: 'class', endpointClass: 'default' }),
];
const tierOf = (limits: readonly Limit[], allowance?: number): TierContent => ({
  limits: [...limits], concurrency: null, degraded: 'waive',
  quotas: allowance === undefined ? [] : [{ meter: 'requests', allowance, overage: 'reject', alertAt: [] }],
});

const TIERS = {
  large: tierOf([limitOf({})]),
  exact: tierOf([limitOf({ limit: EXACT_LIMIT, windowMs: DAY_MS })]),
  layered: tierOf(FOUR, LARGE_LIMIT),
  allowance: tierOf(FOUR, EXACT_LIMIT),
  // A unit comes back in an hour, so that keys outlast the run however seldom they are asked about.
  users: tierOf([limitOf({ scope: 'user', limit: 24, windowMs: DAY_MS, burst: 1_000_000 })]),
  denied: tierOf([limitOf({ scope: 'user', limit: 1, windowMs: DAY_MS })]),
  raised: tierOf([limitOf({ scope: 'user', limit: 1_000, windowMs: DAY_MS })]),
} as const;
export type Tier = keyof typeof TIERS;

/** What publishes tenants as the platform's worker does: compiled from their tier, by the same publisher. */
export interface World {
  /** Compiles a tenant anew from that tier and publishes it. */
  move(tenant: string, tier: Tier, revision: number): Promise<void>;
  close(): void;
}

/** Publishes all tenants of the bench, and the catalogue of classes. */
export async function openWorld(redisUrl: string): Promise<World> {
  const redis = connectLimitRedis(redisUrl);
  await new Promise((resolve) => redis.once('ready', resolve));
  const publisher = new PolicyPublisher({ redis });
  const move = async (tenant: string, tier: Tier, revision: number): Promise<void> => {
    await publisher.publishTenant({ policy: policyOf(tenant, tier, revision), generation: GENERATION, changeId: '' });
  };
  await publisher.publishClasses({ v: 1, revision: 1, classes: { default: { cost: 1, meter: 'requests', failMode: 'local', refundOn: [] } } });
  const all = everyone();
  for (let at = 0; at < all.length; at += BATCH) await Promise.all(all.slice(at, at + BATCH).map(([tenant, tier]) => move(tenant, tier, 1)));
  return { move, close: () => redis.disconnect() };
}

function everyone(): (readonly [tenant: string, tier: Tier])[] {
  const several = (count: number, slug: (index: number) => string, tier: Tier): (readonly [string, Tier])[] =>
    Array.from({ length: count }, (_, index) => [slug(index), tier] as const);
  return [
    ...several(SUBJECTS.many, tenantOf.many, 'large'),
    ...several(LAYERED_TENANTS, tenantOf.layered, 'layered'),
    ...several(LAYERED_TENANTS, tenantOf.single, 'users'),
    ...several(SUBJECTS.exact, tenantOf.exact, 'exact'),
    ...several(SUBJECTS.allowance, tenantOf.allowance, 'allowance'),
    [tenantOf.hot, 'large'], [tenantOf.users, 'users'], [tenantOf.denied, 'denied'],
  ];
}

function policyOf(tenant: string, tier: Tier, revision: number): ReturnType<typeof compile> {
  const startMs = Date.now() - 10 * DAY_MS;
  // As many as the platform compiles: the one before now, the one around now, and the next 13.
  const periods = Array.from({ length: 15 }, (_, index) => {
    const fromMs = startMs + (index - 1) * MONTH_MS;
    return { id: new Date(fromMs).toISOString().slice(0, 10), startMs: fromMs, endMs: fromMs + MONTH_MS };
  });
  const versions = [{ number: 1, effectiveMs: null, content: TIERS[tier] }];
  return compile({ tenant, status: 'active', revision, tiers: [{ fromMs: null, slug: tier, weight: 1, versions }], overrides: [], periods });
}
