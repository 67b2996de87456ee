import type { RouteInput, routes } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';

export type AuditFilter = Pick<RouteInput<typeof routes.auditList>['query'], 'tenant' | 'entity' | 'actor' | 'action' | 'from' | 'to'>;

/**
 * Ids of one page of entries, newest first. `entity` is an id, a type, or `type:id`; `actor` an id or a name: each way to match is a branch of its own, so that
 * every branch reads one index in order, and none sorts all that match.
 */
export async function readAuditPage(db: PrismaService, filter: AuditFilter, after: readonly [string, string] | undefined, limit: number): Promise<string[]> {
  const always = Prisma.join([
    ...(filter.tenant === undefined ? [] : [Prisma.sql`tenant = ${filter.tenant}`]),
    ...(filter.action === undefined ? [] : [Prisma.sql`action = ${filter.action}`]),
    ...(filter.from === undefined ? [] : [Prisma.sql`at >= ${filter.from}::timestamptz`]),
    ...(filter.to === undefined ? [] : [Prisma.sql`at < ${filter.to}::timestamptz`]),
    ...(after === undefined ? [] : [Prisma.sql`(at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`]),
    Prisma.sql`true`,
  ], ' AND ');
  const branches = waysOf(filter).map((way) => Prisma.sql`(SELECT id, at FROM audit_entries WHERE ${way} AND ${always} ORDER BY at DESC, id DESC LIMIT ${limit})`);
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id::text FROM (${Prisma.join(branches, ' UNION ')}) found ORDER BY at DESC, found.id DESC LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

function waysOf({ entity, actor }: AuditFilter): Prisma.Sql[] {
  const [type, ...rest] = entity?.split(':') ?? [];
  const entities = entity === undefined
    ? [Prisma.sql`true`]
    : [
        Prisma.sql`entity_id = ${entity}`,
        Prisma.sql`entity_type = ${entity}`,
        ...(rest.length === 0 ? [] : [Prisma.sql`entity_type = ${type} AND entity_id = ${rest.join(':')}`]),
      ];
  const actors = actor === undefined ? [Prisma.sql`true`] : [Prisma.sql`actor ->> 'id' = ${actor}`, Prisma.sql`actor ->> 'name' = ${actor}`];
  return entities.flatMap((one) => actors.map((other) => Prisma.sql`${one} AND ${other}`));
}
