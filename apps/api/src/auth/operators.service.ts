import { Inject, Injectable } from '@nestjs/common';
import { DomainError, ROLE_RIGHTS, type Operator, type OperatorRole, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService, type Tx } from '../database/prisma.service';
import { notFound, type Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { operatorFrom } from './operators.mapping';
import { hashPassword } from './password';
import { SessionsService } from './sessions.service';

type Create = RouteInput<typeof routes.operatorsCreate>['body'];
type Patch = RouteInput<typeof routes.operatorsPatch>['body'];
type Changed = RouteOutput<typeof routes.operatorsPatch>;

/** People who may sign in to the console. */
@Injectable()
export class OperatorsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(SessionsService) private readonly sessions: SessionsService,
  ) {}

  async list(_caller: Caller, { limit, cursor }: RouteInput<typeof routes.operatorsList>['query']): Promise<RouteOutput<typeof routes.operatorsList>> {
    const after = readCursor(cursor, createdCursor);
    const rows = await this.prisma.operator.findMany({
      where: after ? { OR: [{ createdAt: { gt: after[0] } }, { createdAt: after[0], id: { gt: after[1] } }] } : {},
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: limit + 1,
    });
    return pageOfRows(rows, limit, (row) => [row.createdAt.toISOString(), row.id], operatorFrom);
  }

  async get(_caller: Caller, id: string): Promise<Operator> {
    const row = await this.prisma.operator.findUnique({ where: { id } });
    if (!row) throw notFound();
    return operatorFrom(row);
  }

  /** @throws {DomainError} forbidden for a role above the caller's own rights, conflict for an address that is taken */
  async create(caller: Caller, { password, ...fields }: Create): Promise<Changed> {
    requireRoleWithin(caller, fields.role);
    const passwordHash = await hashPassword(password);
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const operator = operatorFrom(await tx.operator.create({ data: { ...fields, passwordHash } }));
      return { answer: operator, action: 'operator.create', entity: { type: 'operator', id: operator.id }, topics: [], before: null, after: operator };
    });
  }

  /** Any change ends the operator's sessions, so that new rights and a new password hold at once. */
  async patch(caller: Caller, id: string, ifVersion: number, { password, ...fields }: Patch): Promise<Changed> {
    if (fields.role) requireRoleWithin(caller, fields.role);
    const passwordHash = password === undefined ? undefined : await hashPassword(password);
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const before = await tx.operator.findUnique({ where: { id } });
      if (!before) throw notFound();
      requireRoleWithin(caller, operatorFrom(before).role);
      const { count } = await tx.operator.updateMany({
        where: { id, version: ifVersion },
        data: { ...fields, ...(passwordHash ? { passwordHash } : {}), version: { increment: 1 } },
      });
      if (count === 0) throw versionConflict(ifVersion, before.version);
      await requireAnAdmin(tx);
      await this.sessions.endAll(tx, id);
      const operator = operatorFrom(await tx.operator.findUniqueOrThrow({ where: { id } }));
      return {
        answer: operator, action: 'operator.update', entity: { type: 'operator', id }, topics: [], before: operatorFrom(before),
        after: { ...operator, ...(passwordHash ? { passwordChanged: true } : {}) },
      };
    });
  }
}

/** Nobody gives, takes or edits more than they hold themselves. */
function requireRoleWithin(caller: Caller, role: OperatorRole): void {
  if (ROLE_RIGHTS[role].every((right) => caller.rights.has(right))) return;
  throw new DomainError('forbidden', `The role ${role} holds rights that you do not hold`);
}

async function requireAnAdmin(tx: Tx): Promise<void> {
  const admins = await tx.operator.count({ where: { role: 'admin', disabled: false } });
  if (admins === 0) throw new DomainError('conflict', 'The last admin cannot be disabled or lose the role');
}
