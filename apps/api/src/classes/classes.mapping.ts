import { endpointClassSchema, type EndpointClass } from '@quotaplane/contracts';
import type { EndpointClassRow } from '../database/rows';

/** A cost is refused above 2^53-1 at save, so that it is exact as a number. */
export function endpointClassFrom(row: EndpointClassRow): EndpointClass {
  return endpointClassSchema.parse({
    slug: row.slug, cost: Number(row.cost), meter: row.meter, failMode: row.failMode, refundOn: row.refundOn, retry: row.retry, description: row.description,
    version: row.version, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString(),
  });
}
