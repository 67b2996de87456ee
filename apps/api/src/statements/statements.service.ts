import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { ChangesService } from '../audit/changes.service';
import { PrismaService } from '../database/prisma.service';
import { notFound, requireVisible, type Caller } from '../http/caller';
import { createdCursor, olderThan, pageOfRows, readCursor } from '../http/page-cursor';
import { requireTenantFilter } from '../tenants/tenants.service';
import { PeriodClosing } from './period-closing';
import { PeriodSweep } from './period-sweep';
import { readMonthPage } from './statement-list-sql';
import { verifyStatements } from './statement-verification';
import { statementFrom } from './statement.mapping';

const WITH_ADJUSTMENTS = { adjustments: { orderBy: { number: 'asc' } } } as const;

type Verification = RouteOutput<typeof routes.statementsVerify>;

@Injectable()
export class StatementsService {
  /** One verification of everything at a time serves all who ask meanwhile: it reads every statement. */
  private running: Promise<Verification> | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(PeriodClosing) private readonly closing: PeriodClosing,
    @Inject(PeriodSweep) private readonly periods: PeriodSweep,
  ) {}

  /** Newest closing first. */
  async list(caller: Caller, { query }: RouteInput<typeof routes.statementsList>): Promise<RouteOutput<typeof routes.statementsList>> {
    const after = readCursor(query.cursor, createdCursor);
    await requireTenantFilter(this.prisma, query.tenant);
    const tenant = caller.boundTenant ?? query.tenant;
    const ofMonth = query.period === undefined ? {} : { periodId: { startsWith: `${query.period}-` } };
    const where = tenant === undefined && query.period !== undefined
      ? { id: { in: await readMonthPage(this.prisma, query.period, after, query.limit + 1) } }
      : { AND: [tenant === undefined ? {} : { tenant }, ofMonth, after ? olderThan('closedAt', after) : {}] };
    const rows = await this.prisma.statement.findMany({
      where,
      include: WITH_ADJUSTMENTS,
      orderBy: [{ closedAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    return pageOfRows(rows, query.limit, (row) => [row.closedAt.toISOString(), row.id], statementFrom);
  }

  async get(caller: Caller, { params: { id } }: RouteInput<typeof routes.statementsGet>): Promise<RouteOutput<typeof routes.statementsGet>> {
    const row = await this.prisma.statement.findUnique({ where: { id }, include: WITH_ADJUSTMENTS });
    if (!row) throw notFound();
    requireVisible(caller, row.tenant);
    return statementFrom(row);
  }

  /** Closing what is closed answers with the statement that there is. */
  async close(caller: Caller, { params: { slug, period } }: RouteInput<typeof routes.periodsClose>): Promise<RouteOutput<typeof routes.periodsClose>> {
    // Rows of periods that nothing was counted in yet: they close in order, too.
    await this.periods.ensure([slug]);
    return this.changes.commit(caller, [slug], async (tx) => {
      const id = await this.closing.closeOne(tx, slug, period, caller.name);
      const answer = statementFrom(await tx.statement.findUniqueOrThrow({ where: { id }, include: WITH_ADJUSTMENTS }));
      const { number, hash } = answer;
      return { answer, action: 'period.close', entity: { type: 'statement', id }, tenant: slug, topics: [], before: null, after: { period, number, hash } };
    });
  }

  async verify(caller: Caller, { query }: RouteInput<typeof routes.statementsVerify>): Promise<Verification> {
    await requireTenantFilter(this.prisma, query.tenant);
    const tenant = caller.boundTenant ?? query.tenant;
    if (tenant !== undefined) return verifyStatements(this.prisma, tenant);
    this.running ??= verifyStatements(this.prisma).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}
