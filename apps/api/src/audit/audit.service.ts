import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { readAuditPage } from './audit-list-sql';
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
    const ids = await readAuditPage(this.prisma, filter, after, limit + 1);
    const rows = await this.prisma.auditEntry.findMany({ where: { id: { in: ids } }, orderBy: [{ at: 'desc' }, { id: 'desc' }] });
    return pageOfRows(rows, limit, (row) => [row.at.toISOString(), row.id], auditEntryFrom);
  }

  verify(_caller: Caller): Promise<Verification> {
    this.running ??= verifyChains(this.prisma).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}
