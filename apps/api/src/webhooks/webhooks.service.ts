import { Inject, Injectable } from '@nestjs/common';
import { DomainError, SECRET_OVERLAP_MS, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService, type Tx } from '../database/prisma.service';
import type { WebhookRow } from '../database/rows';
import { notFound, unknownTenant, type Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { invalidField } from '../tenants/tenant-rules';
import { endPending } from './delivery-sql';
import { ReceiverAddress, RefusedReceiverError } from './receiver-address';
import { newSecret } from './signature';
import { webhookFrom } from './webhooks.mapping';

/** Longest look-up of a receiver's name at save; callers wait 2 s at most (C076). */
const LOOKUP_MS = 1_500;

/** Endpoints that are told what happens. They belong to the platform, also where they want one tenant's events only. */
@Injectable()
export class WebhooksService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(ReceiverAddress) private readonly address: ReceiverAddress,
  ) {}

  /** Newest first. */
  async list({ query }: RouteInput<typeof routes.webhooksList>): Promise<RouteOutput<typeof routes.webhooksList>> {
    const after = readCursor(query.cursor, createdCursor);
    const rows = await this.prisma.webhook.findMany({
      where: { deletedAt: null, ...(after ? { OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }] } : {}) },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    const pending = await pendingOf(this.prisma, rows.map(({ id }) => id));
    return pageOfRows(rows, query.limit, (row) => [row.createdAt.toISOString(), row.id], (row) => webhookFrom(row, pending.get(row.id) ?? 0));
  }

  async get({ params: { id } }: RouteInput<typeof routes.webhooksGet>): Promise<RouteOutput<typeof routes.webhooksGet>> {
    return shown(this.prisma, await requireWebhook(this.prisma, id));
  }

  /** @throws {DomainError} invalid where the URL leads to no public address */
  async create(caller: Caller, { body }: RouteInput<typeof routes.webhooksCreate>): Promise<RouteOutput<typeof routes.webhooksCreate>> {
    await this.refuseUrl(body.url);
    const secret = newSecret();
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      if (body.tenant !== null && !(await tx.tenant.findFirst({ where: { slug: body.tenant, deletedAt: null }, select: { id: true } }))) throw unknownTenant('/tenant');
      const after = webhookFrom(await tx.webhook.create({ data: { ...body, secret, createdAt: at, updatedAt: at, createdBy: caller.name } }), 0);
      return { answer: { ...after, secret }, action: 'webhook.create', entity: { type: 'webhook', id: after.id }, topics: [], before: null, after };
    });
  }

  /** `active` sends what waited while it was disabled. */
  async patch(caller: Caller, { params: { id }, body, ifVersion }: RouteInput<typeof routes.webhooksPatch>): Promise<RouteOutput<typeof routes.webhooksPatch>> {
    if (body.url !== undefined) await this.refuseUrl(body.url);
    const { status, ...fields } = body;
    const disabledReason = status === 'disabled' ? `disabled by ${caller.name}` : null;
    return this.edit(caller, { id, ifVersion, action: 'webhook.update' }, { ...fields, ...(status === undefined ? {} : { status, disabledReason }) });
  }

  /** What waits is dropped; what is being sent right now may still arrive. */
  async delete(caller: Caller, { params: { id }, ifVersion }: RouteInput<typeof routes.webhooksDelete>): Promise<RouteOutput<typeof routes.webhooksDelete>> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const row = await requireWebhook(tx, id);
      const before = await shown(tx, row);
      // A secret that nobody needs any more is not kept.
      const deleted = await save(tx, row, ifVersion, { deletedAt: at, secret: '', formerSecret: null, formerSecretUntil: null });
      await endPending(tx, id);
      const answer = { ...before, pending: 0, formerSecretUntil: null, version: deleted.version, updatedAt: deleted.updatedAt.toISOString() };
      return { answer, action: 'webhook.delete', entity: { type: 'webhook', id }, topics: [], before, after: null };
    });
  }

  /** The former secret signs beside the new one for 24 h; one that was former already signs no more. */
  async rotate(caller: Caller, { params: { id } }: RouteInput<typeof routes.webhooksRotate>): Promise<RouteOutput<typeof routes.webhooksRotate>> {
    const secret = newSecret();
    return this.edit(caller, { id, action: 'webhook.rotate', secret }, (row, at) => ({
      secret, formerSecret: row.secret, formerSecretUntil: new Date(at.getTime() + SECRET_OVERLAP_MS),
    }));
  }

  private edit(
    caller: Caller,
    { id, ifVersion, action, secret }: { readonly id: string; readonly ifVersion?: number; readonly action: string; readonly secret?: string },
    fields: object | ((row: WebhookRow, at: Date) => object),
  ) {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const row = await requireWebhook(tx, id);
      const before = await shown(tx, row);
      const saved = await save(tx, row, ifVersion ?? row.version, typeof fields === 'function' ? fields(row, at) : fields);
      const after = webhookFrom(saved, before.pending);
      return { answer: secret === undefined ? after : { ...after, secret }, action, entity: { type: 'webhook', id }, topics: [], before, after };
    });
  }

  private async refuseUrl(text: string): Promise<void> {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new RefusedReceiverError('has a name that does not resolve to an address')), LOOKUP_MS).unref();
    });
    await Promise.race([this.address.judge(new URL(text)), late]).catch((error: unknown) => {
      throw error instanceof RefusedReceiverError ? invalidField('/url', error.message) : error;
    });
  }
}

/** @throws {DomainError} not_found */
export async function requireWebhook(db: PrismaService | Tx, id: string): Promise<WebhookRow> {
  const row = await db.webhook.findFirst({ where: { id, deletedAt: null } });
  if (!row) throw notFound();
  return row;
}

async function save(tx: Tx, row: WebhookRow, ifVersion: number, fields: object): Promise<WebhookRow> {
  if (row.version !== ifVersion) throw versionConflict(ifVersion, row.version);
  const { count } = await tx.webhook.updateMany({ where: { id: row.id, version: ifVersion, deletedAt: null }, data: { ...fields, version: { increment: 1 } } });
  if (count === 0) throw new DomainError('conflict', 'The endpoint was changed by somebody else meanwhile');
  return tx.webhook.findUniqueOrThrow({ where: { id: row.id } });
}

async function shown(db: PrismaService | Tx, row: WebhookRow) {
  return webhookFrom(row, (await pendingOf(db, [row.id])).get(row.id) ?? 0);
}

async function pendingOf(db: PrismaService | Tx, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const groups = await db.webhookDelivery.groupBy({ by: ['webhookId'], where: { webhookId: { in: [...ids] }, state: 'pending' }, _count: { _all: true } });
  return new Map(groups.map(({ webhookId, _count }) => [webhookId, _count._all]));
}
