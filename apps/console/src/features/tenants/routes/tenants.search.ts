import { TENANT_SORTS, tenantStatus } from '@quotaplane/contracts';
import { z } from 'zod';

/** Filters of the tenant list as they stand in the URL; what does not fit is dropped, not refused. */
export const tenantsSearch = z.object({
  q: z.string().max(100).optional().catch(undefined),
  tier: z.string().max(63).optional().catch(undefined),
  status: tenantStatus.optional().catch(undefined),
  sort: z.enum(TENANT_SORTS).optional().catch(undefined),
});
export type TenantsSearch = z.infer<typeof tenantsSearch>;
