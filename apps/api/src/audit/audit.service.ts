import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { PrismaService } from '../database/prisma.service';
import type { Prisma } from '../database/rows';
import type { Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { auditEntryFrom } from './audit.mapping';
import { verifyChains } from './chain-verification';

type Query = RouteInput<typeof routes.auditList>['query'];
type Verification = RouteOutput<typeof routes.auditVerify>;

/** Reads and proves the audit log. */
@Injectable()
export class AuditService {
  /** One verification at a time serves all who ask meanwhile: it reads every entry. */
  private running: Promise<Verification> | undefined;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService) {}

  /** Newest first. `entity` is an id, a type, or `type:id`; `actor` an id or a name; `action` exact. */
  async list(_caller: Caller, { limit, cursor, ...filter }: Query): Promise<RouteOutput<typeof routes.auditList>> {
    const after = readCursor(cursor, createdCursor);
    const rows = await this.prisma.auditEntry.findMany({
      where: {
        AND: [
          whereFrom(filter),
          after ? { OR: [{ at: { lt: after[0] } }, { at: after[0], id: { lt: after[1] } }] } : {},
        ],
      },
      orderBy: [{ at: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    return pageOfRows(rows, limit, (row) => [row.at.toISOString(), row.id], auditEntryFrom);
  }

  verify(_caller: Caller): Promise<Verification> {
    this.running ??= verifyChains(this.prisma).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}

function whereFrom({ tenant, entity, actor, action, from, to }: Omit<Query, 'limit' | 'cursor'>): Prisma.AuditEntryWhereInput {
  const [type, ...rest] = entity?.split(':') ?? [];
  const entityFilter: Prisma.AuditEntryWhereInput[] =
    entity === undefined ? [] : [{ OR: [{ entityId: entity }, { entityType: entity }, { entityType: type, entityId: rest.join(':') }] }];
  const actorFilter: Prisma.AuditEntryWhereInput[] =
    actor === undefined ? [] : [{ OR: [{ actor: { path: ['id'], equals: actor } }, { actor: { path: ['name'], equals: actor } }] }];
  return {
    AND: [
      ...entityFilter,
      ...actorFilter,
      tenant === undefined ? {} : { tenant },
      action === undefined ? {} : { action },
      { at: { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) } },
    ],
  };
}
