import { z } from 'zod';
import { instant, MAX_EXACT, reason, slug, ticket } from '../numbers';
import { changed, pageOf, pageQuery } from './page';

const units = z.int().min(1).max(MAX_EXACT);
/** Lower ones are spent first. */
const priority = z.int().min(0).max(255);

/**
 * A one-off grant beyond the allowance. Spent after the allowance: by priority, then the soonest-ending first, then the oldest. What is left goes on
 * into later periods until it ends; without `expiresAt` until it is spent.
 */
export const topUpCreate = z
  .strictObject({
    meter: slug,
    units,
    reason,
    ticket: ticket.optional(),
    from: instant.optional(),
    expiresAt: instant.optional(),
    priority: priority.default(100),
  })
  .refine(({ from, expiresAt }) => from === undefined || expiresAt === undefined || Date.parse(expiresAt) > Date.parse(from), {
    path: ['expiresAt'], message: 'must be after from',
  });

export const topUpState = z.enum(['scheduled', 'active', 'spent', 'expired', 'withdrawn']);
export type TopUpState = z.infer<typeof topUpState>;
export const topUpSchema = z.strictObject({
  id: z.uuid(),
  tenant: slug,
  meter: slug,
  units,
  /** Drawn so far, in all periods; provisional while a period is not closed. */
  drawn: z.int().min(0),
  remaining: z.int().min(0),
  state: topUpState,
  reason,
  ticket: ticket.nullable(),
  from: instant,
  expiresAt: instant.nullable(),
  priority,
  createdAt: instant,
  createdBy: z.string(),
  withdrawnAt: instant.nullable(),
  withdrawnBy: z.string().nullable(),
  version: z.int().min(1),
});
export type TopUp = z.infer<typeof topUpSchema>;
export const topUpChanged = topUpSchema.extend(changed);
export const topUpPage = pageOf(topUpSchema);
export const topUpQuery = pageQuery.extend({ meter: slug.optional(), state: topUpState.optional() });
/** Why a top-up is withdrawn; what was drawn of it stays drawn. */
export const topUpWithdrawal = z.strictObject({ reason });
