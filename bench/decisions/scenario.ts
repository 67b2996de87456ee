/** What a contender can be asked, and how many subjects it is asked for unless a run says otherwise. */
export const SUBJECTS = {
  /** One limit each; with us a tenant, a head and a policy of its own each. */
  many: 10_000,
  /** One limit that all callers share. */
  hot: 1,
  /** Four limits and, with us, a monthly quota. */
  layered: 10_000,
  /** The same users and tenants with the limit of the user alone. */
  single: 10_000,
  /** Users of one tenant, one limit each. */
  users: 10_000,
  /** Four limits on each of the users. */
  four: 10_000,
  /** Limits that are used up. */
  denied: 100,
  /** {@link EXACT_LIMIT} a day each; each is asked once in a run. */
  exact: 256,
  /** The same as a monthly allowance beside four large limits. */
  allowance: 64,
} as const;
export type Scenario = keyof typeof SUBJECTS;

/** So large that nothing measured ever meets it; times the window it stays exact. */
export const LARGE_LIMIT = 1_000_000_000;
export const WINDOW_MS = 60_000;
/** What `exact` admits; a day, so that nothing comes back while it is asked. */
export const EXACT_LIMIT = 100;
export const DAY_MS = 86_400_000;

/** Tenants of the layered scenario, ten users each, who share the limits of their tenant. */
export const LAYERED_TENANTS = 1_000;

export const tenantOf = {
  many: (index: number): string => `many-${index}`,
  exact: (index: number): string => `exact-${index}`,
  allowance: (index: number): string => `allowance-${index}`,
  layered: (index: number): string => `layered-${index % LAYERED_TENANTS}`,
  single: (index: number): string => `single-${index % LAYERED_TENANTS}`,
  hot: 'hot',
  users: 'users',
  denied: 'denied',
} as const;
