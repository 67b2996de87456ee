import { z } from 'zod';
import { tierContentSchema } from '../limits';
import { exactInteger, instant, slug } from '../numbers';
import { changed, pageOf, versioned } from './page';

const fields = {
  slug,
  name: z.string().trim().min(1).max(100),
  /** Share under overload; the lowest weight is shed first. */
  weight: z.int().min(0).max(1000),
  support: z.string().trim().max(200),
};
export const tierCreate = z.strictObject({ slug: fields.slug, name: fields.name, weight: fields.weight.default(1), support: fields.support.default('') });
export const tierPatch = z.strictObject({ name: fields.name, weight: fields.weight, support: fields.support }).partial();

export const tierSchema = z.strictObject({
  ...fields,
  ...versioned,
  archivedAt: instant.nullable(),
  /** Version in force now; null before the first publish. */
  currentVersion: exactInteger.nullable(),
  hasDraft: z.boolean(),
  tenants: exactInteger,
});
export type Tier = z.infer<typeof tierSchema>;
export const tierChanged = tierSchema.extend(changed);
export const tierPage = pageOf(tierSchema);

/** The editable version; a fresh tier's draft is empty. Its version is the ETag for PUT. */
export const tierDraft = z.strictObject({ tier: slug, version: exactInteger, content: tierContentSchema });
export const tierDraftChanged = tierDraft.extend(changed);

export const tierPublish = z.strictObject({ effectiveAt: instant.optional() });
/** One changed field between two versions; `path` is an RFC 6901 pointer into the content, limits and quotas keyed by name. */
export const fieldChange = z.strictObject({
  path: z.string(),
  before: z.json().optional(),
  after: z.json().optional(),
  /** True where everyone's count of this limit begins anew, because the field is part of its counter's key. */
  newCounter: z.boolean().optional(),
});
export type FieldChange = z.infer<typeof fieldChange>;
/** Fields of a limit that are part of its counter's key: changing one begins a new counter. @see docs/redis-keys.md */
export const COUNTER_FIELDS: readonly string[] = ['algorithm', 'windowMs', 'scope', 'endpointClass', 'perRoute'];
export const tierVersionSchema = z.strictObject({
  tier: slug,
  number: z.int().min(1),
  content: tierContentSchema,
  effectiveAt: instant,
  publishedAt: instant,
  publishedBy: z.string(),
  diff: z.array(fieldChange),
});
export type TierVersion = z.infer<typeof tierVersionSchema>;
export const tierVersionChanged = tierVersionSchema.extend(changed);
export const tierVersionPage = pageOf(tierVersionSchema);
