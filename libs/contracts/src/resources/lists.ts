import { z } from 'zod';
import { normaliseRange } from '../addresses';
import { scope } from '../limits';
import { instant, reason, slug, ticket } from '../numbers';
import { changed, pageOf, pageQuery } from './page';

/** Most entries that run or are to come, of all lists together: every guard keeps them in memory and looks through them. */
export const LISTS_MAX = 10_000;

/** Text that is cleared to the form in which callers are compared: host bits gone, IPv4-mapped IPv6 as IPv4, a bare IPv6 address as its /64. */
const addressOrRange = z.string().max(64)
  .refine((text) => normaliseRange(text) !== undefined, 'must be an address or a CIDR range such as 192.0.2.0/24 or 2001:db8::/64')
  .transform((text) => normaliseRange(text) ?? text);

/** Whom an entry is about. `tenant` is the whole tenant that the entry names; `ip` takes addresses and CIDR ranges. */
export const listedSubject = z.discriminatedUnion('scope', [
  z.strictObject({ scope: z.literal('tenant') }),
  z.strictObject({ scope: z.literal('key'), id: z.uuid() }),
  z.strictObject({ scope: z.literal('user'), id: z.string().min(1).max(96) }),
  z.strictObject({ scope: z.literal('ip'), id: addressOrRange }),
]);
export type ListedSubject = z.output<typeof listedSubject>;
/** As answered; an automatic penalty can be of any scope of a limit. */
export const shownSubject = z.strictObject({ scope, id: z.string().optional() });
export type ShownSubject = z.infer<typeof shownSubject>;

const created = {
  /** null: whichever tenant's caller it is. */
  tenant: slug.nullable().default(null),
  subject: listedSubject,
  reason,
  ticket: ticket.optional(),
  from: instant.optional(),
};
const namesItsTenant = (entry: { readonly tenant: string | null; readonly subject: ListedSubject }): boolean => entry.subject.scope !== 'tenant' || entry.tenant !== null;
const TENANT_MISSING = { path: ['tenant'], message: 'is required for an entry about a whole tenant' };

/** `allow`: no rate limit is asked, usage still counts; `deny`: 403 `blocked`. */
export const listEntryCreate = z.strictObject({ list: z.enum(['allow', 'deny']), ...created, until: instant.optional() }).refine(namesItsTenant, TENANT_MISSING);
/** A penalty set by hand: 429 `penalised` until it ends. */
export const penaltyCreate = z.strictObject({ ...created, until: instant }).refine(namesItsTenant, TENANT_MISSING);

/** By the clock alone; `lifted` by hand. */
export const listEntryState = z.enum(['scheduled', 'active', 'ended', 'lifted']);
export type ListEntryState = z.infer<typeof listEntryState>;

const shown = {
  tenant: slug.nullable(),
  subject: shownSubject,
  from: instant,
  state: listEntryState,
  liftedBy: z.string().nullable(),
  version: z.int().min(1),
};
export const listEntrySchema = z.strictObject({
  id: z.uuid(), list: z.enum(['allow', 'deny']), ...shown, reason, ticket: ticket.nullable(), until: instant.nullable(), createdBy: z.string(), createdAt: instant,
});
export type ListEntry = z.infer<typeof listEntrySchema>;
export const listEntryChanged = listEntrySchema.extend(changed);
export const listEntryPage = pageOf(listEntrySchema);
export const listEntryQuery = pageQuery.extend({ list: z.enum(['allow', 'deny']).optional(), tenant: slug.optional(), state: listEntryState.optional() });

/**
 * A penalty in force or remembered. `manual`: set by an operator. `automatic`: set by a limit's own `penalty`, known while it runs; its `version`
 * is its level, the number of bans in a row.
 */
export const subjectPenaltySchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['manual', 'automatic']),
  ...shown,
  until: instant,
  /** Limit whose strikes set it; null for a manual one. */
  limit: z.string().nullable(),
  level: z.int().min(1).nullable(),
  reason: reason.nullable(),
  ticket: ticket.nullable(),
  createdBy: z.string().nullable(),
  createdAt: instant,
});
export type SubjectPenalty = z.infer<typeof subjectPenaltySchema>;
export const subjectPenaltyChanged = subjectPenaltySchema.extend(changed);
export const subjectPenaltyPage = pageOf(subjectPenaltySchema);
export const penaltyQuery = pageQuery.extend({ tenant: slug.optional(), kind: z.enum(['manual', 'automatic']).optional(), state: listEntryState.optional() });
/** Id of a penalty: a UUID, or `auto-` and the encoded field of an automatic one. */
export const byPenaltyId = z.strictObject({ id: z.string().regex(/^(auto-[\w-]{1,900}|[0-9a-f-]{36})$/i, 'must be the id of a penalty') });

/** Why an entry or a penalty is lifted; kept in the audit log. */
export const liftQuery = z.strictObject({ reason });
