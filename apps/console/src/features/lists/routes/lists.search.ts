import { listEntryState } from '@quotaplane/contracts';
import { z } from 'zod';
import { LIST_NAMES } from '../components/listed';

export const LIST_VIEWS = [...listEntryState.options, 'all'] as const;

/** Which list and what of it, as it stands in the URL; nothing there means penalties that run. */
export const listsSearch = z.object({
  list: z.enum(LIST_NAMES).optional().catch(undefined),
  state: z.enum(LIST_VIEWS).optional().catch(undefined),
});

/** `?penalise=`: whom the penalty form is open for, over any page. */
export const penaliseSearch = z
  .object({ tenant: z.string().max(63), scope: z.enum(['tenant', 'key', 'user', 'ip']), id: z.string().max(200) })
  .optional()
  .catch(undefined);
