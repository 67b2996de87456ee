import { z } from 'zod';
import { instant } from '../numbers';

/** Query of every list: `limit` 1-200 (default 50), opaque `cursor`. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});

/** Answer of every list; order total and stable. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() });

/** Members every editable resource has; `version` is also its ETag (`"<version>"`). */
export const versioned = { version: z.int().min(1), createdAt: instant, updatedAt: instant };

/** Member of every mutating answer: the id to ask `/v1/changes/{id}` for receipts. */
export const changed = { changeId: z.uuid() };
