import type { EndpointClass, Limit, TierContent } from '@quotaplane/contracts';

const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;

export interface SeedTier {
  readonly slug: string;
  readonly name: string;
  readonly weight: number;
  readonly support: string;
  readonly content: TierContent;
}

const perMinute = (limit: number, burst: number): Limit =>
  ({ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit, windowMs: MINUTE_MS, burst, mode: 'enforce' });

/** Callers without credentials. The global limit comes first, so that it is judged first. */
const ANONYMOUS: SeedTier = {
  slug: 'anonymous',
  name: 'Anonymous',
  weight: 0,
  support: '',
  content: {
    limits: [
      { name: 'global-per-second', algorithm: 'token-bucket', scope: 'global', limit: 600, windowMs: 1000, mode: 'enforce' },
      { name: 'per-address', algorithm: 'token-bucket', scope: 'ip', limit: 30, windowMs: MINUTE_MS, burst: 10, mode: 'enforce' },
      { name: 'login-address', algorithm: 'fixed-window', scope: 'ip', limit: 20, windowMs: QUARTER_HOUR_MS, endpointClass: 'login', mode: 'enforce' },
      { name: 'login-account', algorithm: 'fixed-window', scope: 'subject:account', limit: 5, windowMs: QUARTER_HOUR_MS, endpointClass: 'login', mode: 'enforce' },
    ],
    concurrency: null,
    quotas: [],
    degraded: 'waive',
  },
};

const INTERNAL: SeedTier = {
  slug: 'internal',
  name: 'Internal',
  weight: 100,
  support: 'The platform team',
  content: {
    limits: [
      perMinute(10_000, 1000),
      // Of the early hook, which sees what no route matches: wide enough for any honest caller, and a bound on what a flood may cost.
      { name: 'early-global', algorithm: 'token-bucket', scope: 'global', limit: 6_000_000, windowMs: MINUTE_MS, burst: 600_000, endpointClass: 'early', mode: 'enforce' },
      { name: 'early-address', algorithm: 'token-bucket', scope: 'ip', limit: 600_000, windowMs: MINUTE_MS, burst: 60_000, endpointClass: 'early', mode: 'enforce' },
    ],
    concurrency: null,
    quotas: [{ meter: 'requests', allowance: null, overage: 'reject', alertAt: [] }],
    degraded: 'waive',
  },
};

/** Tiers without which no caller can be judged: those of the reserved tenants. */
export const PLATFORM_TIERS: readonly SeedTier[] = [ANONYMOUS, INTERNAL];

/** @see docs: api, "Demo data" */
export const DEMO_TIERS: readonly SeedTier[] = [
  {
    slug: 'free',
    name: 'Free',
    weight: 1,
    support: 'Community forum',
    content: {
      limits: [perMinute(100, 20)],
      concurrency: 10,
      quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject', alertAt: [80, 100] }],
      degraded: 'waive',
    },
  },
  {
    slug: 'pro',
    name: 'Pro',
    weight: 10,
    support: 'E-mail, one working day',
    content: {
      limits: [perMinute(1000, 100)],
      concurrency: 50,
      quotas: [
        { meter: 'requests', allowance: 10_000_000, overage: 'throttle', throttle: { limit: 100, windowMs: MINUTE_MS }, alertAt: [80, 100] },
      ],
      degraded: 'waive',
    },
  },
  {
    slug: 'enterprise',
    name: 'Enterprise',
    weight: 50,
    support: 'Phone, round the clock',
    content: {
      limits: [perMinute(10_000, 1000)],
      concurrency: 200,
      quotas: [{ meter: 'requests', allowance: 100_000_000, overage: 'bill', alertAt: [80, 100, 120] }],
      degraded: 'bill',
    },
  },
];

type SeedClass = Pick<EndpointClass, 'slug' | 'cost' | 'failMode' | 'description'>;

export const ENDPOINT_CLASSES: readonly SeedClass[] = [
  { slug: 'default', cost: 1, failMode: 'local', description: 'Every route that names no other class' },
  { slug: 'search', cost: 10, failMode: 'local', description: 'Full-text search; ten times the work of a plain read' },
  { slug: 'bulk', cost: 1, failMode: 'local', description: 'Bulk writes; the cost is the number of items' },
  { slug: 'login', cost: 1, failMode: 'closed', description: 'Password checks; refused while the limiter is away' },
  { slug: 'early', cost: 1, failMode: 'local', description: 'Every call before routing and parsing; judged by the limits of the platform tenant' },
  { slug: 'stream', cost: 1, failMode: 'local', description: 'Long answers that hold a slot' },
];

/** The reserved tenants: callers without credentials, and the platform's own services. */
export const RESERVED_TENANT_ROWS = [
  { slug: 'anonymous', name: 'Callers without credentials', tier: 'anonymous' },
  { slug: 'platform', name: 'The platform itself', tier: 'internal' },
] as const;

export const FALLBACK_TIER = 'anonymous';
