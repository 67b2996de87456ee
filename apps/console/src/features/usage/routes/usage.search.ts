import { usagePeriodSelector } from '@quotaplane/contracts';
import { z } from 'zod';

export const usageSearch = z.object({
  period: usagePeriodSelector.optional().catch(undefined),
  /** Tenant whose chart is open. */
  tenant: z.string().max(63).optional().catch(undefined),
  sort: z.string().max(30).optional().catch(undefined),
});
