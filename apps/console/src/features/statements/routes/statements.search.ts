import { slug, statementQuery } from '@quotaplane/contracts';
import { z } from 'zod';

/** Filters of the list of statements as they stand in the URL; what does not fit is dropped. */
export const statementsSearch = z.object({
  tenant: slug.optional().catch(undefined),
  period: statementQuery.shape.period.catch(undefined),
});
