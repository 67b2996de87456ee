import { overrideQuery, overrideState } from '@quotaplane/contracts';
import { z } from 'zod';

export const OVERRIDE_VIEWS = ['active', ...overrideState.exclude(['active']).options, 'all'] as const;

/** Which overrides are listed, as it stands in the URL; nothing there means those in force. */
export const overridesSearch = z.object({
  state: z.enum(OVERRIDE_VIEWS).optional().catch(undefined),
  tenant: overrideQuery.shape.tenant.catch(undefined),
  subject: overrideQuery.shape.subject.catch(undefined),
});
