import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type Override, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, type ChangeRecord } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import type { OverrideRow, Prisma } from '../database/rows';
import { notFound, requireVisible, unknownTenant, type Caller } from '../http/caller';
import { createdCursor, olderThan, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { invalidFields } from '../tenants/tenant-rules';
import { requireTenant, requireTenantFilter } from '../tenants/tenants.service';
import { whereState, whereStateOfAll } from './override-filters';
import { overrideSetErrors, overrideStateAt, spanErrors } from './override-rules';
import { countedSubject, fieldOfSubject, requireOwnKey, whereSubject } from './override-subject';
import { overrideFromRow } from './overrides.mapping';
import { currentContents } from './tier-content';

@Injectable()
export class OverridesService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Newest first; the state is a matter of the clock. */
  async list(caller: Caller, { query }: RouteInput<typeof routes.overridesList>): Promise<RouteOutput<typeof routes.overridesList>> {
    const now = new Date(this.clock.now());
    const after = readCursor(query.cursor, createdCursor);
    const slug = caller.boundTenant ?? query.tenant;
    await requireTenantFilter(this.prisma, query.tenant);
    // By its id: a filter through the relation would leave the index of a tenant's overrides aside.
    const tenant = slug === undefined ? undefined : await this.prisma.tenant.findUnique({ where: { slug }, select: { id: true } });
    if (tenant === null) return { items: [], nextCursor: null };
    const rows = await this.prisma.override.findMany({
      where: {
        AND: [
          tenant === undefined ? {} : { tenantId: tenant.id },
          query.subject === undefined ? {} : whereSubject(query.subject),
          query.state === undefined ? {} : tenant === undefined && query.subject === undefined ? await whereStateOfAll(this.prisma, query.state, now) : whereState(query.state, now),
          after ? olderThan('createdAt', after) : {},
        ],
      },
      include: { tenant: { select: { slug: true } } },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    const contents = await currentContents(this.prisma, rows.map(({ tenantId }) => tenantId), now);
    return pageOfRows(rows, query.limit, (row) => [row.createdAt.toISOString(), row.id], (row) => overrideFromRow(row, row.tenant.slug, contents.get(row.tenantId), now));
  }

  async get(caller: Caller, { params: { id } }: RouteInput<typeof routes.overridesGet>): Promise<RouteOutput<typeof routes.overridesGet>> {
    const tenant = await this.tenantOf(caller, id);
    return this.shown(this.prisma, await requireOverride(this.prisma, id), tenant, new Date(this.clock.now()));
  }

  async create(caller: Caller, { body }: RouteInput<typeof routes.overridesCreate>): Promise<RouteOutput<typeof routes.overridesCreate>> {
    const slug = body.tenant;
    const subject = countedSubject(body.subject);
    if (!(await this.prisma.tenant.findFirst({ where: { slug, deletedAt: null }, select: { id: true } }))) throw unknownTenant('/tenant');
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const tenant = await requireTenant(tx, slug);
      const from = body.from === undefined ? at : new Date(body.from);
      const until = body.until === undefined ? null : new Date(body.until);
      await requireOwnKey(tx, tenant.id, subject);
      await this.refuseMisfits(tx, tenant.id, { subject, set: body.set, from, until }, at);
      const { id } = await tx.override.create({
        data: {
          tenantId: tenant.id, subject, subjectField: fieldOfSubject(subject), mode: body.mode, set: body.set, reason: body.reason, ticket: body.ticket ?? null,
          from, until, createdAt: at, createdBy: caller.name,
        },
      });
      const after = await this.shown(tx, await requireOverride(tx, id), slug, at);
      return recordOf('override.create', null, after, { reason: body.reason, ticket: body.ticket ?? null });
    });
  }

  /** @throws {DomainError} conflict when it has ended: make a new one, so that the log tells two stories */
  async patch(caller: Caller, { params: { id }, body, ifVersion }: RouteInput<typeof routes.overridesPatch>): Promise<RouteOutput<typeof routes.overridesPatch>> {
    const slug = await this.tenantOf(caller, id);
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const row = await requireOverride(tx, id);
      if (row.version !== ifVersion) throw versionConflict(ifVersion, row.version);
      const before = await this.shown(tx, row, slug, at);
      refuseOver(row, at);
      const from = body.from === undefined ? row.from : new Date(body.from);
      const until = body.until === undefined ? row.until : body.until === null ? null : new Date(body.until);
      await this.refuseMisfits(tx, row.tenantId, { subject: before.subject, set: body.set ?? before.set, from, until }, at);
      await save(tx, row, {
        from, until, reason: body.reason,
        ...(body.mode === undefined ? {} : { mode: body.mode }),
        ...(body.set === undefined ? {} : { set: body.set }),
        ...(body.ticket === undefined ? {} : { ticket: body.ticket }),
      });
      const after = await this.shown(tx, await requireOverride(tx, id), slug, at);
      return recordOf('override.update', before, after, { reason: body.reason, ticket: after.ticket });
    });
  }

  async delete(caller: Caller, { params: { id }, ifVersion }: RouteInput<typeof routes.overridesDelete>): Promise<RouteOutput<typeof routes.overridesDelete>> {
    return this.end(caller, id, { action: 'override.delete', ifVersion });
  }

  async revert(caller: Caller, { params: { id }, body }: RouteInput<typeof routes.overridesRevert>): Promise<RouteOutput<typeof routes.overridesRevert>> {
    return this.end(caller, id, { action: 'override.revert', reason: body.reason });
  }

  private async end(caller: Caller, id: string, how: { readonly action: string; readonly ifVersion?: number; readonly reason?: string }) {
    const slug = await this.tenantOf(caller, id);
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const row = await requireOverride(tx, id);
      if (how.ifVersion !== undefined && row.version !== how.ifVersion) throw versionConflict(how.ifVersion, row.version);
      refuseOver(row, at);
      const before = await this.shown(tx, row, slug, at);
      await save(tx, row, { revertedAt: at, revertedBy: caller.name });
      const after = await this.shown(tx, await requireOverride(tx, id), slug, at);
      return recordOf(how.action, before, after, { reason: how.reason ?? null, ticket: row.ticket });
    });
  }

  /** Tenant of an override that the caller may see. @throws {DomainError} not_found, in the same words for a missing and a foreign one */
  private async tenantOf(caller: Caller, id: string): Promise<string> {
    const row = await this.prisma.override.findUnique({ where: { id }, select: { tenant: { select: { slug: true } } } });
    if (!row) throw notFound();
    requireVisible(caller, row.tenant.slug);
    return row.tenant.slug;
  }

  private async refuseMisfits(
    tx: Tx,
    tenantId: string,
    { subject, set, from, until }: Pick<Override, 'subject' | 'set'> & { readonly from: Date; readonly until: Date | null },
    at: Date,
  ): Promise<void> {
    const content = (await currentContents(tx, [tenantId], at)).get(tenantId);
    const errors = [...spanErrors({ from, until }, at), ...(content ? overrideSetErrors(set, content, subject.scope) : [{ pointer: '/tenant', detail: 'has no published tier' }])];
    if (errors.length > 0) throw invalidFields(errors);
  }

  private async shown(db: PrismaService | Tx, row: OverrideRow, slug: string, now: Date): Promise<Override> {
    return overrideFromRow(row, slug, (await currentContents(db, [row.tenantId], now)).get(row.tenantId), now);
  }
}

const recordOf = (
  action: string,
  before: Override | null,
  after: Override,
  why: { readonly reason: string | null; readonly ticket: string | null },
): ChangeRecord<Override> => ({
  answer: after, action, entity: { type: 'override', id: after.id }, tenant: after.tenant, topics: [{ kind: 'tenant', slug: after.tenant }], ...why, before, after,
});

async function requireOverride(db: PrismaService | Tx, id: string): Promise<OverrideRow> {
  const row = await db.override.findUnique({ where: { id } });
  if (!row) throw notFound();
  return row;
}

function refuseOver(row: OverrideRow, at: Date): void {
  const state = overrideStateAt(row, at);
  if (state === 'reverted' || state === 'ended') throw new DomainError('conflict', `The override is ${state}; create a new one`);
}

async function save(tx: Tx, row: OverrideRow, data: Prisma.OverrideUpdateManyMutationInput): Promise<void> {
  const { count } = await tx.override.updateMany({ where: { id: row.id, version: row.version }, data: { ...data, version: { increment: 1 } } });
  if (count === 0) throw versionConflict(row.version, row.version + 1);
}
