import { z } from 'zod';
import { slug } from '../numbers';

export const bySlug = z.strictObject({ slug });
export const byId = z.strictObject({ id: z.uuid() });
export const bySlugAndId = z.strictObject({ slug, id: z.uuid() });
