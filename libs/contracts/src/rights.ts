import { z } from 'zod';

const AREAS = [
  'tiers', 'classes', 'tenants', 'keys', 'overrides', 'lists', 'penalties', 'usage', 'topups', 'webhooks', 'offenders', 'nodes', 'audit', 'settings', 'operators', 'tokens',
] as const;
export type Area = (typeof AREAS)[number];
export type Right = `${Area}:${'read' | 'write'}`;
export const RIGHTS = AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]) as [Right, ...Right[]];
export const right = z.enum(RIGHTS);

export const operatorRole = z.enum(['viewer', 'support', 'admin', 'billing']);
export type OperatorRole = z.infer<typeof operatorRole>;

const reads = (areas: readonly Area[]): Right[] => areas.map((area): Right => `${area}:read`);
const VIEWED: readonly Area[] = ['tiers', 'classes', 'tenants', 'keys', 'overrides', 'lists', 'penalties', 'usage', 'topups', 'webhooks', 'offenders', 'nodes', 'audit', 'settings'];

/** What each role may do. Token scopes are these same rights. */
export const ROLE_RIGHTS: Readonly<Record<OperatorRole, readonly Right[]>> = {
  viewer: reads(VIEWED),
  support: [...reads(VIEWED), 'overrides:write', 'keys:write', 'penalties:write', 'topups:write'],
  admin: RIGHTS,
  billing: reads(['usage', 'topups', 'tenants', 'tiers']),
};

/** Rights that change how everyone is judged; a token bound to one tenant can never hold them. */
export const PLATFORM_ONLY_AREAS: readonly Area[] = ['settings', 'operators', 'tokens', 'nodes', 'tiers', 'classes', 'lists', 'webhooks'];
