import { Inject, Injectable } from '@nestjs/common';
import type { ListEntry, RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { ChangesService, type ChangeRecord } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { ListEntryRow } from '../database/rows';
import type { Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { requireTenantFilter } from '../tenants/tenants.service';
import { chainOf, endEntry, entryStateAt, insertEntry, requireEntry, requireListedTenant, subjectOf, whereState } from './list-entry';

const LISTS = ['allow', 'deny'];

/** Who is let through or kept out, whatever their limits say. Of the platform: a token bound to one tenant cannot come here. */
@Injectable()
export class ListsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list(_caller: Caller, { query }: RouteInput<typeof routes.listsList>): Promise<RouteOutput<typeof routes.listsList>> {
    const now = new Date(this.clock.now());
    const after = readCursor(query.cursor, createdCursor);
    await requireTenantFilter(this.prisma, query.tenant);
    const rows = await this.prisma.listEntry.findMany({
      where: {
        AND: [
          { list: query.list ?? { in: LISTS } },
          query.tenant === undefined ? {} : { tenant: query.tenant },
          query.state === undefined ? {} : whereState(query.state, now),
          after ? { OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }] } : {},
        ],
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    return pageOfRows(rows, query.limit, (row) => [row.createdAt.toISOString(), row.id], (row) => entryFromRow(row, now));
  }

  async get(_caller: Caller, { params: { id } }: RouteInput<typeof routes.listsGet>): Promise<RouteOutput<typeof routes.listsGet>> {
    return entryFromRow(await requireEntry(this.prisma, id, LISTS), new Date(this.clock.now()));
  }

  /** @throws {DomainError} not_found for a tenant or key that is not there, invalid, conflict when the lists are full */
  async create(caller: Caller, { body }: RouteInput<typeof routes.listsCreate>): Promise<RouteOutput<typeof routes.listsCreate>> {
    await requireListedTenant(this.prisma, body.tenant);
    return this.changes.commit(caller, [chainOf(body.tenant)], async (tx, { at }) => {
      const after = entryFromRow(await insertEntry(tx, body, { at, by: caller.name }), at);
      return recordOf(`list.${after.list}`, null, after, body.reason);
    });
  }

  /** @throws {DomainError} not_found, version_conflict, conflict for one that is over */
  async lift(caller: Caller, { params: { id }, query: { reason }, ifVersion }: RouteInput<typeof routes.listsDelete>): Promise<RouteOutput<typeof routes.listsDelete>> {
    const { tenant } = await requireEntry(this.prisma, id, LISTS);
    return this.changes.commit(caller, [chainOf(tenant)], async (tx, { at }) => {
      const row = await requireEntry(tx, id, LISTS);
      const after = entryFromRow(await endEntry(tx, row, { at, by: caller.name, ifVersion }), at);
      return recordOf('list.lift', entryFromRow(row, at), after, reason);
    });
  }
}

const recordOf = (action: string, before: ListEntry | null, after: ListEntry, reason: string): ChangeRecord<ListEntry> => ({
  answer: after, action, entity: { type: 'list', id: after.id }, tenant: after.tenant, topics: [{ kind: 'lists' }], reason, ticket: after.ticket, before, after,
});

const entryFromRow = (row: ListEntryRow, now: Date): ListEntry => ({
  id: row.id,
  list: row.list as ListEntry['list'],
  tenant: row.tenant,
  subject: subjectOf(row),
  reason: row.reason,
  ticket: row.ticket,
  from: row.from.toISOString(),
  until: row.until?.toISOString() ?? null,
  state: entryStateAt(row, now),
  createdBy: row.createdBy,
  liftedBy: row.endedBy,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
});
