import {
  deliveryState,
  ERROR_CODE_NAMES,
  EVENT_TYPES,
  listEntryState,
  overrideQuery,
  overrideState,
  RESERVED_TENANTS,
  routes,
  slug,
  statementQuery,
  TENANT_SORTS,
  tenantStatus,
  usagePeriodSelector,
  type RouteId,
} from '@quotaplane/contracts';
import { z } from 'zod';

// What the first page must know of the contract, as plain values. A build runs this file and ships its results alone (build/facts.ts), so it
// exports JSON and nothing else.

interface CallFacts {
  readonly method: string;
  readonly path: string;
  readonly isIdempotent: boolean;
}

/** How each endpoint is called. */
export const CALLS = Object.fromEntries(
  Object.entries(routes).map(([id, route]) => [id, { method: route.method, path: route.path, isIdempotent: 'idempotent' in route }]),
) as Readonly<Record<RouteId, CallFacts>>;

export const ERROR_CODES_KNOWN = ERROR_CODE_NAMES;
export const TENANT_STATUSES = tenantStatus.options;
export const RESERVED_TENANT_SLUGS = RESERVED_TENANTS;
export const TENANT_ORDERS = TENANT_SORTS;
export const OVERRIDE_STATES = overrideState.options;
export const LIST_ENTRY_STATES = listEntryState.options;
export const DELIVERY_STATES = deliveryState.options;
export const EVENT_NAMES = EVENT_TYPES;

export const SLUG_PATTERN = patternOf(slug);
export const SUBJECT_PATTERN = patternOf(overrideQuery.shape.subject.unwrap());
export const MONTH_PATTERN = patternOf(statementQuery.shape.period.unwrap());
export const USAGE_MONTH_PATTERN = patternOf(usagePeriodSelector.options[1]);

function patternOf(schema: z.ZodString): string {
  const { pattern } = z.toJSONSchema(schema);
  if (pattern === undefined) throw new TypeError('The schema of the contract has no pattern any more');
  return pattern;
}
