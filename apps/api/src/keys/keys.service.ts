import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type ApiKey, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { generateSecret, hashSecret } from '@quotaplane/guard';
import { ChangesService } from '../audit/changes.service';
import { PrismaService } from '../database/prisma.service';
import type { ApiKeyRow } from '../database/rows';
import { notFound, type Caller } from '../http/caller';
import { createdCursor, olderThan, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { invalidField } from '../tenants/tenant-rules';
import { requireTenant } from '../tenants/tenants.service';

/** `qpk_` and six characters: enough to recognise a key by, far too few to guess it from. */
const HINT_LENGTH = 10;

@Injectable()
export class KeysService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(ChangesService) private readonly changes: ChangesService) {}

  /** Newest first, revoked ones included. */
  async list({ params: { slug }, query }: RouteInput<typeof routes.keysList>): Promise<RouteOutput<typeof routes.keysList>> {
    const tenant = await requireTenant(this.prisma, slug);
    const after = readCursor(query.cursor, createdCursor);
    const rows = await this.prisma.apiKey.findMany({
      where: {
        tenantId: tenant.id,
        ...(after ? olderThan('createdAt', after) : {}),
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    return pageOfRows(rows, query.limit, (row) => [row.createdAt.toISOString(), row.id], (row) => keyFromRow(row, slug));
  }

  /** The secret is in this answer and nowhere else: only its hash is kept. */
  async create(caller: Caller, { params: { slug }, body }: RouteInput<typeof routes.keysCreate>): Promise<RouteOutput<typeof routes.keysCreate>> {
    if (body.kind === 'service' && slug !== 'platform') throw invalidField('/kind', 'keys of kind service are made under the tenant platform only');
    const secret = generateSecret('qpk_');
    const secretHash = hashSecret(secret);
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const tenant = await requireTenant(tx, slug);
      const row = await tx.apiKey.create({
        data: {
          tenantId: tenant.id, name: body.name, userId: body.userId ?? null, kind: body.kind, secretHash, hint: secret.slice(0, HINT_LENGTH),
          createdAt: at, createdBy: caller.name,
        },
      });
      const after = keyFromRow(row, slug);
      return {
        answer: { ...after, secret }, action: 'key.create', entity: { type: 'key', id: row.id }, tenant: slug, topics: [{ kind: 'key', hash: secretHash }],
        before: null, after,
      };
    });
  }

  async get({ params: { slug, id } }: RouteInput<typeof routes.keysGet>): Promise<RouteOutput<typeof routes.keysGet>> {
    const tenant = await requireTenant(this.prisma, slug);
    const row = await this.prisma.apiKey.findFirst({ where: { id, tenantId: tenant.id } });
    if (!row) throw notFound();
    return keyFromRow(row, slug);
  }

  /** Final: a revoked key never comes back. Guards refuse it within 2 s. */
  async revoke(caller: Caller, { params: { slug, id }, ifVersion }: RouteInput<typeof routes.keysDelete>): Promise<RouteOutput<typeof routes.keysDelete>> {
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const tenant = await requireTenant(tx, slug);
      const row = await tx.apiKey.findFirst({ where: { id, tenantId: tenant.id } });
      if (!row) throw notFound();
      if (row.version !== ifVersion) throw versionConflict(ifVersion, row.version);
      if (row.revokedAt !== null) throw new DomainError('conflict', 'The key is revoked already');
      const { count } = await tx.apiKey.updateMany({ where: { id, version: ifVersion, revokedAt: null }, data: { revokedAt: at, version: { increment: 1 } } });
      if (count === 0) throw versionConflict(ifVersion, row.version + 1);
      const after = keyFromRow({ ...row, revokedAt: at, version: row.version + 1 }, slug);
      return {
        answer: after, action: 'key.revoke', entity: { type: 'key', id }, tenant: slug, topics: [{ kind: 'key', hash: row.secretHash }],
        before: keyFromRow(row, slug), after,
      };
    });
  }
}

const keyFromRow = (row: ApiKeyRow, tenant: string): ApiKey => ({
  id: row.id,
  tenant,
  name: row.name,
  userId: row.userId,
  kind: row.kind as ApiKey['kind'],
  hint: row.hint,
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  revokedAt: row.revokedAt?.toISOString() ?? null,
  version: row.version,
});
