import { z } from 'zod';
import { allowance, instant, MAX_EXACT, reason, slug, ticket } from '../numbers';
import { changed, pageOf, pageQuery, versioned } from './page';

/**
 * Whom an override is for: the whole tenant, or a single key (its id), user (as the service names it) or address (IPv4, or an IPv6 prefix such as
 * `2001:db8::/64`; an IPv6 address is kept as its /64). Overrides of a single subject name only limits of its own scope.
 */
export const overrideSubject = z.discriminatedUnion('scope', [
  z.strictObject({ scope: z.literal('tenant') }),
  z.strictObject({ scope: z.literal('key'), id: z.uuid() }),
  z.strictObject({ scope: z.literal('user'), id: z.string().min(1).max(96) }),
  z.strictObject({ scope: z.literal('ip'), id: z.union([z.ipv4(), z.ipv6(), z.cidrv6()]) }),
]);
export type OverrideSubject = z.infer<typeof overrideSubject>;

/** Which numbers change. An omitted `burst` follows the overridden `limit`. */
export const overrideSet = z
  .strictObject({
    limits: z.record(slug, z.strictObject({ limit: allowance, burst: z.int().min(1).max(MAX_EXACT).nullable() }).partial()
      .refine((value) => value.limit !== undefined || value.burst !== undefined, 'name limit or burst')).optional(),
    concurrency: allowance.optional(),
    quotas: z.record(slug, z.strictObject({ allowance })).optional(),
  })
  .refine(
    (value) => value.concurrency !== undefined || Object.keys(value.limits ?? {}).length + Object.keys(value.quotas ?? {}).length > 0,
    'must change at least one limit, quota or the concurrency',
  );
export type OverrideSet = z.infer<typeof overrideSet>;

/** `at-least`: the larger of tier and override, so an upgrade is never undone. `exactly`: the override's own value. */
export const overrideMode = z.enum(['at-least', 'exactly']);
export type OverrideMode = z.infer<typeof overrideMode>;

const fields = {
  tenant: slug,
  subject: overrideSubject,
  mode: overrideMode,
  set: overrideSet,
  reason,
  ticket,
  from: instant,
  until: instant,
};
export const overrideCreate = z.strictObject({
  tenant: fields.tenant,
  subject: fields.subject.default({ scope: 'tenant' }),
  mode: fields.mode.default('at-least'),
  set: fields.set,
  reason: fields.reason,
  ticket: fields.ticket.optional(),
  from: fields.from.optional(),
  until: fields.until.optional(),
});
export type OverrideCreate = z.infer<typeof overrideCreate>;
/** `until: null` makes it last until reverted. A new reason is required with any change. */
export const overridePatch = z.strictObject({
  mode: fields.mode.optional(),
  set: fields.set.optional(),
  ticket: fields.ticket.nullable().optional(),
  from: fields.from.optional(),
  until: fields.until.nullable().optional(),
  reason: fields.reason,
});

/** `scheduled` before `from`, `ended` from `until` on; both by the clock alone, `reverted` by hand. */
export const overrideState = z.enum(['scheduled', 'active', 'ended', 'reverted']);
export const overrideSchema = z.strictObject({
  id: z.uuid(),
  tenant: fields.tenant,
  subject: fields.subject,
  mode: fields.mode,
  set: fields.set,
  reason: fields.reason,
  ticket: fields.ticket.nullable(),
  from: fields.from,
  until: fields.until.nullable(),
  state: overrideState,
  createdBy: z.string(),
  revertedBy: z.string().nullable(),
  /** Limits it names that the tenant's tier lacks now. */
  dangling: z.array(z.string()),
  ...versioned,
});
export type Override = z.infer<typeof overrideSchema>;
export const overrideChanged = overrideSchema.extend(changed);
export const overrideRevert = z.strictObject({ reason });
/** `?subject=key:<id>`, `user:<id>`, `ip:<address>`, `tenant` (whole tenants) or `single` (all but those). */
export const overrideQuery = pageQuery.extend({
  tenant: slug.optional(),
  state: overrideState.optional(),
  subject: z.string().max(110).regex(/^(tenant|single|(key|user|ip):.+)$/s, 'must be tenant, single, key:<id>, user:<id> or ip:<address>').optional(),
});
export const overridePage = pageOf(overrideSchema);
