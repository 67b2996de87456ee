import { z } from 'zod';
import { instant, slug } from '../numbers';
import { operatorRole, right } from '../rights';
import { changed, pageOf, versioned } from './page';

const email = z.email().max(200).transform((value) => value.trim().toLowerCase());
const password = z.string().min(12).max(200);

export const signIn = z.strictObject({ email: z.string().min(1).max(200), password: z.string().min(1).max(200) });
/** Who is asking: an operator by session, or a token. */
export const whoAmI = z.strictObject({
  kind: z.enum(['operator', 'token']),
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: operatorRole.nullable(),
  rights: z.array(right),
  tenant: slug.nullable(),
  /** Console session: when it ends if nothing is done, null for tokens. */
  idleExpiresAt: instant.nullable(),
  expiresAt: instant.nullable(),
});
export type WhoAmI = z.infer<typeof whoAmI>;

export const operatorCreate = z.strictObject({ email, name: z.string().trim().min(1).max(100), role: operatorRole, password });
export const operatorPatch = z.strictObject({ name: z.string().trim().min(1).max(100), role: operatorRole, disabled: z.boolean(), password }).partial();
export const operatorSchema = z.strictObject({ id: z.uuid(), email: z.string(), name: z.string(), role: operatorRole, disabled: z.boolean(), ...versioned });
export type Operator = z.infer<typeof operatorSchema>;
export const operatorChanged = operatorSchema.extend(changed);
export const operatorPage = pageOf(operatorSchema);

/** Which tenants a token may see; there is no default, and a token without one is refused everywhere (C084). */
export const tokenBinding = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('platform') }),
  z.strictObject({ kind: z.literal('tenant'), tenant: slug }),
]);
export type TokenBinding = z.infer<typeof tokenBinding>;
export const tokenCreate = z.strictObject({
  name: z.string().trim().min(1).max(100),
  scopes: z.array(right).min(1).max(50),
  binding: tokenBinding,
  expiresAt: instant.optional(),
});
export const tokenSchema = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(right),
  binding: tokenBinding,
  hint: z.string(),
  createdAt: instant,
  createdBy: z.string(),
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
  version: z.int().min(1),
});
export type Token = z.infer<typeof tokenSchema>;
export const tokenCreated = tokenSchema.extend({ secret: z.string().optional(), ...changed });
export const tokenChanged = tokenSchema.extend(changed);
export const tokenPage = pageOf(tokenSchema);
