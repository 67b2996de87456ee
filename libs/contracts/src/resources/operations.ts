import { z } from 'zod';
import { scope } from '../limits';
import { decimalString, exactInteger, instant, slug } from '../numbers';
import { pageOf, pageQuery } from './page';

export const offenderQuery = z.strictObject({ minutes: z.coerce.number().int().min(1).max(60).default(15), limit: z.coerce.number().int().min(1).max(200).default(50) });
/**
 * One subject that was denied. `share` = its denials over all denials in the window, 0 to 1. Each node counts 500 subjects a minute apart, so that
 * the figure may be off by `error` at most, which is at most all denials / 500 and 0 with fewer subjects. `honoursRetryAfter`: whether most
 * of its retries waited as told; null when none was seen.
 */
export const offender = z.strictObject({
  tenant: slug,
  tier: slug.nullable(),
  subject: z.strictObject({ scope, id: z.string() }),
  denials: exactInteger,
  error: exactInteger,
  limits: z.array(z.strictObject({ name: z.string(), denials: exactInteger })),
  honoursRetryAfter: z.boolean().nullable(),
  share: z.number().min(0).max(1),
  lastSeen: instant,
});
export type Offender = z.infer<typeof offender>;
export const offenderPage = pageOf(offender);

export const node = z.strictObject({
  incarnation: z.string(),
  service: z.string(),
  kind: z.enum(['service', 'platform']),
  version: z.string(),
  host: z.string(),
  pid: z.int(),
  startedAt: instant,
  lastSeen: instant,
  mode: z.enum(['healthy', 'degraded']),
  /** Feed position this node has applied. */
  position: z.string(),
  alive: z.boolean(),
});
export type Node = z.infer<typeof node>;
export const nodePage = pageOf(node);

/**
 * Who has a change. `live` nodes have dropped everything older; `lagging` are alive and have not said so yet.
 * `tookMs` = from the change's commit to the last live receipt, null while none; `state` is `queued` until the worker has published.
 */
export const changeReceipts = z.strictObject({
  id: z.uuid(),
  state: z.enum(['queued', 'published']),
  committedAt: instant,
  publishedAt: instant.nullable(),
  revisions: z.array(z.strictObject({ tenant: slug, revision: exactInteger })),
  /** How many tenants the change touched; `revisions` lists at most 100. */
  tenants: exactInteger,
  nodes: z.strictObject({ live: exactInteger, total: exactInteger, lagging: z.array(z.string()) }),
  tookMs: exactInteger.nullable(),
});
export type ChangeReceipts = z.infer<typeof changeReceipts>;

export const settingsSchema = z.strictObject({ fallbackTier: slug, version: z.int().min(1) });
export const settingsPatch = z.strictObject({ fallbackTier: slug }).partial();
export const settingsChanged = settingsSchema.extend({ changeId: z.uuid() });

export const actorSchema = z.strictObject({ kind: z.enum(['operator', 'token', 'system']), id: z.string(), name: z.string() });
export type Actor = z.infer<typeof actorSchema>;

/** One entry of an append-only chain; `hash` = SHA-256 over the canonical entry and `prevHash`. Chains: one per tenant, and `platform`. */
export const auditEntry = z.strictObject({
  id: z.uuid(),
  chain: z.string(),
  seq: decimalString,
  at: instant,
  actor: actorSchema,
  action: z.string(),
  entity: z.strictObject({ type: z.string(), id: z.string() }),
  tenant: slug.nullable(),
  reason: z.string().nullable(),
  ticket: z.string().nullable(),
  before: z.json().nullable(),
  after: z.json().nullable(),
  changeId: z.uuid(),
  requestId: z.string().nullable(),
  prevHash: z.string(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntry>;
export const auditQuery = pageQuery.extend({
  tenant: slug.optional(),
  entity: z.string().max(200).optional(),
  actor: z.string().max(200).optional(),
  action: z.string().max(100).optional(),
  from: instant.optional(),
  to: instant.optional(),
});
export const auditPage = pageOf(auditEntry);
export const auditVerification = z.strictObject({
  verified: z.boolean(),
  chains: exactInteger,
  entries: exactInteger,
  /** First broken place of each broken chain. */
  faults: z.array(z.strictObject({ chain: z.string(), seq: decimalString, detail: z.string() })),
});
