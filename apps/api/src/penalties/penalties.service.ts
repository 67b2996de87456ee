import { Inject, Injectable } from '@nestjs/common';
import { instant, type RouteInput, type RouteOutput, type routes, type SubjectPenalty } from '@quotaplane/contracts';
import { z } from 'zod';
import { ChangesService, PLATFORM_CHAIN, type ChangeRecord } from '../audit/changes.service';
import type { ChangeTopic } from '../audit/change-topic';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { ListEntryRow } from '../database/rows';
import { notFound, requireVisible, type Caller } from '../http/caller';
import { pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { chainOf, endEntry, insertEntry, requireEntry, requireListedTenant, whereState } from '../lists/list-entry';
import { requireTenantFilter } from '../tenants/tenants.service';
import { AutomaticPenalties, type AutomaticBan } from './automatic-penalties';
import { penaltyFromBan, penaltyFromRow } from './penalties.mapping';

const PENALTIES = ['penalty'];
type Place = readonly [kind: SubjectPenalty['kind'], at: string, id: string];
const placeCursor = z.tuple([z.enum(['automatic', 'manual']), instant, z.string().max(1_000)])
  .refine(([kind, , id]) => kind === 'automatic' || z.uuid().safeParse(id).success);

/** Penalties of both kinds: those that operators set, in Postgres, and those that limits set by themselves, in Redis. */
@Injectable()
export class PenaltiesService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(AutomaticPenalties) private readonly automatic: AutomaticPenalties,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Automatic ones first, which all run; then those set by hand; newest first within each. */
  async list(_caller: Caller, { query }: RouteInput<typeof routes.penaltiesList>): Promise<RouteOutput<typeof routes.penaltiesList>> {
    const now = new Date(this.clock.now());
    const after = readCursor(query.cursor, placeCursor);
    await requireTenantFilter(this.prisma, query.tenant);
    const bans = await this.bansAfter(after, query);
    const rows = query.kind === 'automatic' || bans.length > query.limit ? [] : await this.rowsAfter(after, query, now, query.limit + 1 - bans.length);
    return pageOfRows([...bans.map(penaltyFromBan), ...rows.map((row) => penaltyFromRow(row, now))], query.limit, placeOf, (penalty) => penalty);
  }

  async get(caller: Caller, { params: { id } }: RouteInput<typeof routes.penaltiesGet>): Promise<RouteOutput<typeof routes.penaltiesGet>> {
    if (AutomaticPenalties.isId(id)) return penaltyFromBan(await this.requireBan(caller, id));
    return penaltyFromRow(await this.requireRow(caller, id), new Date(this.clock.now()));
  }

  /** @throws {DomainError} not_found for a tenant or key that is not there, invalid, conflict when the lists are full */
  async create(caller: Caller, { body }: RouteInput<typeof routes.penaltiesCreate>): Promise<RouteOutput<typeof routes.penaltiesCreate>> {
    await requireListedTenant(this.prisma, body.tenant);
    return this.changes.commit(caller, [chainOf(body.tenant)], async (tx, { at }) => {
      const after = penaltyFromRow(await insertEntry(tx, { ...body, list: 'penalty' }, { at, by: caller.name }), at);
      return recordOf('penalty.create', null, after, body.reason, after.tenant);
    });
  }

  /** @throws {DomainError} not_found, version_conflict, conflict for one that is over; store_unavailable for an automatic one while Redis is away */
  async lift(caller: Caller, { params: { id }, query: { reason }, ifVersion }: RouteInput<typeof routes.penaltiesDelete>): Promise<RouteOutput<typeof routes.penaltiesDelete>> {
    if (AutomaticPenalties.isId(id)) return this.liftBan(caller, id, ifVersion, reason);
    const { tenant } = await this.requireRow(caller, id);
    return this.changes.commit(caller, [chainOf(tenant)], async (tx, { at }) => {
      const row = await requireEntry(tx, id, PENALTIES);
      const after = penaltyFromRow(await endEntry(tx, row, { at, by: caller.name, ifVersion }), at);
      return recordOf('penalty.lift', penaltyFromRow(row, at), after, reason, tenant);
    });
  }

  /** The ban goes before the entry is committed, for an entry about a lift that never came about would be a lie. */
  private async liftBan(caller: Caller, id: string, ifVersion: number, reason: string): Promise<RouteOutput<typeof routes.penaltiesDelete>> {
    const { tenant } = await this.requireBan(caller, id);
    // Callers of unknown tenants are banned under the slug that they named.
    const owner = (await this.prisma.tenant.findUnique({ where: { slug: tenant }, select: { id: true } })) ? tenant : null;
    return this.changes.commit(caller, [owner ?? PLATFORM_CHAIN], async (_tx, { at }) => {
      const ban = await this.requireBan(caller, id);
      if (ban.level !== ifVersion) throw versionConflict(ifVersion, ban.level);
      await this.automatic.lift(ban);
      const before = penaltyFromBan(ban);
      const after: SubjectPenalty = { ...before, until: at.toISOString(), state: 'lifted', liftedBy: caller.name };
      return { ...recordOf('penalty.lift', before, after, reason, owner), topics: [] };
    });
  }

  private async bansAfter(after: Place | undefined, query: RouteInput<typeof routes.penaltiesList>['query']): Promise<AutomaticBan[]> {
    const isAskedFor = query.kind !== 'manual' && (query.state ?? 'active') === 'active' && after?.[0] !== 'manual';
    if (!isAskedFor) return [];
    const bans = await this.automatic.running(query.tenant);
    if (after === undefined) return bans.slice(0, query.limit + 1);
    const atMs = Date.parse(after[1]);
    return bans.filter((ban) => ban.startedMs < atMs || (ban.startedMs === atMs && ban.id > after[2])).slice(0, query.limit + 1);
  }

  private rowsAfter(after: Place | undefined, query: RouteInput<typeof routes.penaltiesList>['query'], now: Date, take: number): Promise<ListEntryRow[]> {
    const [kind, at = '', id = ''] = after ?? [];
    return this.prisma.listEntry.findMany({
      where: {
        AND: [
          { list: { in: PENALTIES } },
          query.tenant === undefined ? {} : { tenant: query.tenant },
          query.state === undefined ? {} : whereState(query.state, now),
          kind === 'manual' ? { OR: [{ createdAt: { lt: new Date(at) } }, { createdAt: new Date(at), id: { lt: id } }] } : {},
        ],
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take,
    });
  }

  /** @throws {DomainError} not_found, in the same words for a missing and a foreign one */
  private async requireBan(caller: Caller, id: string): Promise<AutomaticBan> {
    const ban = await this.automatic.find(id);
    if (!ban) throw notFound();
    requireVisible(caller, ban.tenant);
    return ban;
  }

  private async requireRow(caller: Caller, id: string): Promise<ListEntryRow> {
    const row = await requireEntry(this.prisma, id, PENALTIES);
    // An entry about everyone's callers is not one tenant's to see.
    requireVisible(caller, row.tenant ?? '');
    return row;
  }
}

const placeOf = ({ kind, createdAt, id }: SubjectPenalty): Place => [kind, createdAt, id];

const TOPICS: readonly ChangeTopic[] = [{ kind: 'lists' }];

const recordOf = (action: string, before: SubjectPenalty | null, after: SubjectPenalty, reason: string, tenant: string | null): ChangeRecord<SubjectPenalty> => ({
  answer: after, action, entity: { type: 'penalty', id: after.id }, tenant, topics: TOPICS, reason, ticket: after.ticket, before, after,
});
