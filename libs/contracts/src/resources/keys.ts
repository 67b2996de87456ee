import { z } from 'zod';
import { instant, slug } from '../numbers';
import { keyKind } from '../policy';
import { changed, pageOf } from './page';

export const apiKeyCreate = z.strictObject({
  name: z.string().trim().min(1).max(100),
  userId: z.string().min(1).max(96).optional(),
  /** `service` keys are made under the reserved tenant `platform` only. */
  kind: keyKind.default('customer'),
});
export const apiKeySchema = z.strictObject({
  id: z.uuid(),
  tenant: slug,
  name: z.string(),
  userId: z.string().nullable(),
  kind: keyKind,
  /** Start of the secret, enough to recognise it by; the rest is not stored. */
  hint: z.string(),
  createdAt: instant,
  createdBy: z.string(),
  revokedAt: instant.nullable(),
  version: z.int().min(1),
});
export type ApiKey = z.infer<typeof apiKeySchema>;
/** `secret` is shown here once; a replay under the same Idempotency-Key leaves it out. */
export const apiKeyCreated = apiKeySchema.extend({ secret: z.string().optional(), ...changed });
export const apiKeyChanged = apiKeySchema.extend(changed);
export const apiKeyPage = pageOf(apiKeySchema);
