import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes, type TopUp } from '@quotaplane/contracts';
import { ChangesService, type ChangeRecord } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import type { TopUpRow } from '../database/rows';
import { notFound, type Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { invalidFields } from '../tenants/tenant-rules';
import { UsageLedger } from '../usage/usage-ledger';
import { drawnUnits } from './drawn-units';
import { topUpErrors } from './top-up-rules';
import { topUpFromRow } from './top-ups.mapping';

/** One-off grants of units beyond a tenant's allowance. */
@Injectable()
export class TopUpsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Newest first. Which state one is in depends on what was drawn, so that pages of one state are picked from all of the tenant's. */
  async list({ params: { slug }, query }: RouteInput<typeof routes.topUpsList>): Promise<RouteOutput<typeof routes.topUpsList>> {
    const now = new Date(this.clock.now());
    const after = readCursor(query.cursor, createdCursor);
    const rows = await this.rowsOf(this.prisma, slug, now);
    const drawn = await drawnUnits(this.prisma, this.ledger, rows, now);
    const found = await this.prisma.topUp.findMany({
      where: {
        tenantId: rows.id,
        ...(query.meter === undefined ? {} : { meter: query.meter }),
        ...(after ? { OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }] } : {}),
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...(query.state === undefined ? { take: query.limit + 1 } : {}),
    });
    const topUps = found.map((row) => topUpFromRow(row, slug, drawn.get(row.id) ?? 0, now)).filter(({ state }) => query.state === undefined || state === query.state);
    return pageOfRows(topUps, query.limit, ({ createdAt, id }) => [createdAt, id], (topUp) => topUp);
  }

  async get({ params: { slug, id } }: RouteInput<typeof routes.topUpsGet>): Promise<RouteOutput<typeof routes.topUpsGet>> {
    const now = new Date(this.clock.now());
    const rows = await this.rowsOf(this.prisma, slug, now);
    return this.shown(this.prisma, rows, await requireTopUp(this.prisma, rows, id), now);
  }

  async create(caller: Caller, { params: { slug }, body }: RouteInput<typeof routes.topUpsCreate>): Promise<RouteOutput<typeof routes.topUpsCreate>> {
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const rows = await this.rowsOf(tx, slug, at);
      const from = body.from === undefined ? at : new Date(body.from);
      const expiresAt = body.expiresAt === undefined ? null : new Date(body.expiresAt);
      const errors = topUpErrors(rows, { meter: body.meter, units: body.units, from, expiresAt }, at);
      if (errors.length > 0) throw invalidFields(errors);
      const row = await tx.topUp.create({
        data: {
          tenantId: rows.id, meter: body.meter, units: BigInt(body.units), reason: body.reason, ticket: body.ticket ?? null, priority: body.priority,
          from, expiresAt, createdAt: at, createdBy: caller.name,
        },
      });
      return recordOf('top-up.create', null, topUpFromRow(row, slug, 0, at), body.reason, body.ticket ?? null);
    });
  }

  /** What is left of it is gone; what was drawn stays drawn. @throws {DomainError} conflict where nothing is left to withdraw */
  async withdraw(caller: Caller, { params: { slug, id }, query: { reason }, ifVersion }: RouteInput<typeof routes.topUpsDelete>): Promise<RouteOutput<typeof routes.topUpsDelete>> {
    return this.changes.commit(caller, [slug], async (tx, { at }) => {
      const rows = await this.rowsOf(tx, slug, at);
      const row = await requireTopUp(tx, rows, id);
      if (row.version !== ifVersion) throw versionConflict(ifVersion, row.version);
      const before = await this.shown(tx, rows, row, at);
      // One that looks spent may get units back while its period is open, so it can be withdrawn too.
      if (before.state === 'withdrawn' || before.state === 'expired') throw new DomainError('conflict', `The top-up is ${before.state}; nothing of it is left`);
      const { count } = await tx.topUp.updateMany({
        where: { id, version: ifVersion }, data: { withdrawnAt: at, withdrawnBy: caller.name, version: { increment: 1 } },
      });
      if (count === 0) throw versionConflict(ifVersion, row.version + 1);
      const after = topUpFromRow(await requireTopUp(tx, rows, id), slug, before.drawn, at);
      return recordOf('top-up.withdraw', before, after, reason, row.ticket);
    });
  }

  /** @throws {DomainError} not_found, also for a deleted tenant */
  private async rowsOf(db: PrismaService | Tx, slug: string, now: Date): Promise<TenantPolicyRows> {
    const [rows] = await readPolicyRows(db, [slug], { overrides: 'all', now });
    if (!rows || rows.deletedAt !== null) throw notFound();
    return rows;
  }

  private async shown(db: PrismaService | Tx, rows: TenantPolicyRows, row: TopUpRow, now: Date): Promise<TopUp> {
    return topUpFromRow(row, rows.tenant, (await drawnUnits(db, this.ledger, rows, now)).get(row.id) ?? 0, now);
  }
}

const recordOf = (action: string, before: TopUp | null, after: TopUp, reason: string, ticket: string | null): ChangeRecord<TopUp> => ({
  answer: after, action, entity: { type: 'top-up', id: after.id }, tenant: after.tenant, topics: [{ kind: 'tenant', slug: after.tenant }], reason, ticket, before, after,
});

async function requireTopUp(db: PrismaService | Tx, { id: tenantId }: TenantPolicyRows, id: string): Promise<TopUpRow> {
  const row = await db.topUp.findFirst({ where: { id, tenantId } });
  if (!row) throw notFound();
  return row;
}
