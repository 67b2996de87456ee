import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService } from '../audit/changes.service';
import type { ChangeTopic } from '../audit/change-topic';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { actorOf, notFound, unknownTenant, type Caller } from '../http/caller';
import { versionConflict } from '../http/version-conflict';
import { changeCalendar } from './calendar-change';
import { calendarsOf } from './tenant-calendar';
import { invalidField, refuseReservedSlug, requireTimeZone, requireUsableTier } from './tenant-rules';
import { tenantFromRow, tiersOf, WITH_ASSIGNMENTS, type AssignedTenant } from './tenants.mapping';
import { moveInstant, moveTo, moveUsage } from './tier-moves';

@Injectable()
export class TenantsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @throws {DomainError} not_found, also for a deleted tenant */
  async get(slug: string): Promise<RouteOutput<typeof routes.tenantsGet>> {
    return tenantFromRow(await requireTenant(this.prisma, slug), new Date(this.clock.now()));
  }

  async create(caller: Caller, { body }: RouteInput<typeof routes.tenantsCreate>): Promise<RouteOutput<typeof routes.tenantsCreate>> {
    if (caller.boundTenant !== null) throw new DomainError('forbidden', 'A token that is bound to one tenant cannot create others');
    refuseReservedSlug(body.slug);
    await requireTimeZone(this.prisma, body.timezone);
    return this.changes.commit(caller, [body.slug], async (tx, { at }) => {
      const tier = await requireUsableTier(tx, body.tier, body.slug);
      const { tier: _tier, ...fields } = body;
      const row = await tx.tenant.create({
        data: { ...fields, createdAt: at, assignments: { create: { tierId: tier.id, effectiveAt: at, createdAt: at, createdBy: actorOf(caller).name } } },
        include: WITH_ASSIGNMENTS,
      });
      const after = tenantFromRow(row, at);
      return { answer: after, action: 'tenant.create', entity: { type: 'tenant', id: body.slug }, tenant: body.slug, topics: topicsOf(body.slug), before: null, after };
    }, { opens: true });
  }

  /** A tier named here counts at once, and usage is carried. Zone and anchor day count from the end of the running period on. */
  async patch(caller: Caller, { params: { slug }, body, ifVersion }: RouteInput<typeof routes.tenantsPatch>): Promise<RouteOutput<typeof routes.tenantsPatch>> {
    await requireTimeZone(this.prisma, body.timezone);
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const row = await requireTenant(tx, slug);
      if (row.reserved && body.status === 'suspended') throw invalidField('/status', 'the platform\'s own tenants cannot be suspended');
      const { tier: tierSlug, ...fields } = body;
      await raiseVersion(tx, row, ifVersion, fields);
      if (fields.timezone !== undefined || fields.anchorDay !== undefined) await changeCalendar(tx, row, fields, { at, by: caller.name });
      if (tierSlug !== undefined && tierSlug !== tiersOf(row, at).inForce?.tier.slug) {
        await moveTo(tx, row, await requireUsableTier(tx, tierSlug, slug), { at, effectiveAt: at, usage: 'carry', by: caller.name });
      }
      const after = tenantFromRow(await requireTenant(tx, slug), at);
      return { answer: after, action: 'tenant.update', entity: { type: 'tenant', id: slug }, tenant: slug, topics: topicsOf(slug), before: tenantFromRow(row, at), after };
    });
  }

  /** Replaces whatever move was scheduled. */
  async putTier(caller: Caller, { params: { slug }, body, ifVersion }: RouteInput<typeof routes.tenantTierPut>): Promise<RouteOutput<typeof routes.tenantTierPut>> {
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const row = await requireTenant(tx, slug);
      const calendar = { calendars: calendarsOf(row) };
      const effectiveAt = moveInstant(body.effectiveAt, calendar, at);
      const usage = moveUsage(body.usage, calendar, effectiveAt);
      await raiseVersion(tx, row, ifVersion, {});
      await moveTo(tx, row, await requireUsableTier(tx, body.tier, slug), { at, effectiveAt, usage, by: caller.name, reason: body.reason });
      const after = tenantFromRow(await requireTenant(tx, slug), at);
      return {
        answer: after, action: 'tenant.move', entity: { type: 'tenant', id: slug }, tenant: slug, topics: topicsOf(slug), reason: body.reason,
        before: tenantFromRow(row, at), after,
      };
    });
  }

  /** Usage, audit and the slug stay; keys stop and the slug falls to the fallback tier. */
  async delete(caller: Caller, { params: { slug }, ifVersion }: RouteInput<typeof routes.tenantsDelete>): Promise<RouteOutput<typeof routes.tenantsDelete>> {
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const row = await requireTenant(tx, slug);
      if (row.reserved) throw new DomainError('conflict', 'The platform\'s own tenants cannot be deleted');
      await raiseVersion(tx, row, ifVersion, { deletedAt: at });
      const keys = await tx.apiKey.findMany({ where: { tenantId: row.id, revokedAt: null }, select: { secretHash: true } });
      const topics = [...topicsOf(slug), ...keys.map(({ secretHash }): ChangeTopic => ({ kind: 'key', hash: secretHash }))];
      const before = tenantFromRow(row, at);
      const answer = { ...before, version: row.version + 1, updatedAt: at.toISOString() };
      return { answer, action: 'tenant.delete', entity: { type: 'tenant', id: slug }, tenant: slug, topics, before, after: null };
    });
  }
}

const topicsOf = (slug: string): ChangeTopic[] => [{ kind: 'tenant', slug }];

/** @throws {DomainError} not_found, also for a deleted tenant */
export async function requireTenant(db: PrismaService | Tx, slug: string): Promise<AssignedTenant> {
  const row = await db.tenant.findUnique({ where: { slug }, include: WITH_ASSIGNMENTS });
  if (!row || row.deletedAt !== null) throw notFound();
  return row;
}

/**
 * Refuses a filter by a tenant that never was, for an empty list would read as one that has nothing. Deleted tenants pass: what they did stays.
 * @throws {DomainError} not_found
 */
export async function requireTenantFilter(db: PrismaService, slug: string | undefined): Promise<void> {
  if (slug === undefined) return;
  if (!(await db.tenant.findUnique({ where: { slug }, select: { id: true } }))) throw unknownTenant('/query/tenant');
}

/** Writes the named fields only: revision, generation and usage belong to the worker, and a whole-row save would bring old ones back (C012). */
async function raiseVersion(tx: Tx, row: AssignedTenant, ifVersion: number, fields: object): Promise<void> {
  const { count } = await tx.tenant.updateMany({ where: { id: row.id, version: ifVersion, deletedAt: null }, data: { ...fields, version: { increment: 1 } } });
  if (count === 0) throw versionConflict(ifVersion, row.version);
}
