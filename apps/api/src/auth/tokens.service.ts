import { Inject, Injectable } from '@nestjs/common';
import { DomainError, PLATFORM_ONLY_AREAS, type FieldError, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { generateSecret, hashSecret } from '@quotaplane/guard';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';
import { notFound, type Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { tokenFrom } from './tokens.mapping';

type Create = RouteInput<typeof routes.tokensCreate>['body'];

/** Characters of a secret that stay readable: its prefix and five more. */
const HINT_LENGTH = 9;

/** API tokens of programs. Their secret is shown once and kept as a SHA-256 only. */
@Injectable()
export class TokensService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
  ) {}

  /** Newest first. Tokens without a binding can do nothing and are not shown. */
  async list(_caller: Caller, { limit, cursor }: RouteInput<typeof routes.tokensList>['query']): Promise<RouteOutput<typeof routes.tokensList>> {
    const after = readCursor(cursor, createdCursor);
    const rows = await this.prisma.apiToken.findMany({
      where: { binding: { not: Prisma.DbNull }, ...(after ? { OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }] } : {}) },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    return pageOfRows(rows, limit, (row) => [row.createdAt.toISOString(), row.id], tokenFrom);
  }

  /** @throws {DomainError} forbidden for scopes above the caller's own, invalid for a binding that cannot hold them */
  async create(caller: Caller, body: Create): Promise<RouteOutput<typeof routes.tokensCreate>> {
    await this.requireGrantable(caller, body);
    const secret = generateSecret('qpt_');
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      if (body.expiresAt !== undefined && new Date(body.expiresAt) <= at) {
        throw new DomainError('invalid', 'The token would have ended already', { errors: [{ pointer: '/expiresAt', detail: 'must be in the future' }] });
      }
      const row = await tx.apiToken.create({
        data: {
          name: body.name, scopes: [...new Set(body.scopes)], binding: body.binding, secretHash: hashSecret(secret), hint: secret.slice(0, HINT_LENGTH),
          createdBy: caller.name, expiresAt: body.expiresAt ?? null,
        },
      });
      const token = tokenFrom(row);
      return { answer: { ...token, secret }, action: 'token.create', entity: { type: 'token', id: token.id }, topics: [], before: null, after: token };
    });
  }

  /** Holds at once: every request looks its token up. */
  async revoke(caller: Caller, id: string, ifVersion: number): Promise<RouteOutput<typeof routes.tokensDelete>> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const before = await tx.apiToken.findUnique({ where: { id } });
      if (!before || before.binding === null) throw notFound();
      if (before.version !== ifVersion) throw versionConflict(ifVersion, before.version);
      if (before.revokedAt) throw new DomainError('conflict', 'The token is revoked already');
      const { count } = await tx.apiToken.updateMany({ where: { id, version: ifVersion }, data: { revokedAt: at, version: { increment: 1 } } });
      if (count === 0) throw versionConflict(ifVersion, before.version + 1);
      const token = tokenFrom({ ...before, revokedAt: at, version: ifVersion + 1 });
      return { answer: token, action: 'token.revoke', entity: { type: 'token', id }, topics: [], before: tokenFrom(before), after: token };
    });
  }

  private async requireGrantable(caller: Caller, { scopes, binding }: Create): Promise<void> {
    const beyond = scopes.filter((scope) => !caller.rights.has(scope));
    if (beyond.length > 0) throw new DomainError('forbidden', `You do not hold ${beyond.join(', ')} yourself`);
    if (binding.kind === 'platform') return;
    const areas: readonly string[] = PLATFORM_ONLY_AREAS;
    const errors: FieldError[] = scopes.flatMap((scope, index) =>
      areas.includes(scope.split(':')[0] ?? '') ? [{ pointer: `/scopes/${index}`, detail: `${scope} belongs to the platform; a token bound to a tenant cannot hold it` }] : [],
    );
    const tenant = await this.prisma.tenant.findFirst({ where: { slug: binding.tenant, deletedAt: null } });
    if (!tenant) errors.push({ pointer: '/binding/tenant', detail: 'is not a tenant' });
    if (errors.length > 0) throw new DomainError('invalid', 'The binding cannot be granted', { errors });
  }
}
