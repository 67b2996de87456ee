import { z } from 'zod';

export const OFFENDER_WINDOWS = [1, 15, 60] as const;
export const offendersSearch = z.object({
  minutes: z
    .union(OFFENDER_WINDOWS.map((minutes) => z.literal(minutes)))
    .optional()
    .catch(undefined),
});
