import { z } from 'zod';

/** Where to go after signing in: a path of this console only, never another site. */
export const signInSearch = z.object({
  next: z
    .string()
    .regex(/^\/(?![/\\])/)
    .optional()
    .catch(undefined),
});
