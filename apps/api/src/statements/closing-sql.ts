import type { PrismaService, Tx } from '../database/prisma.service';
import type { PeriodKey } from './raw-sums';
import type { StatementContent } from './statement-hash';

/** A row of the queue. */
export interface EndedPeriod extends PeriodKey {
  readonly startAt: Date;
  readonly endAt: Date;
  readonly timezone: string;
}

/**
 * Claims periods that ended at `before` or earlier for the life of the transaction, oldest first: SKIP LOCKED, so that workers share the queue, and a row lock,
 * so that a killed worker gives its claims back. A tenant's later period waits until the earlier one is closed and committed: its statement names that one's hash.
 * @param leftOut tenants to pass over
 */
export function claimEndedPeriods(tx: Tx, before: Date, limit: number, leftOut: readonly string[]): Promise<EndedPeriod[]> {
  return tx.$queryRaw`
    SELECT p.tenant, p.period_id AS "periodId", p.start_at AS "startAt", p.end_at AS "endAt", p.timezone FROM usage_periods p
    WHERE p.closed_at IS NULL AND p.end_at <= ${before} AND p.tenant <> ALL(${[...leftOut]}::text[]) AND EXISTS (SELECT 1 FROM tenants t WHERE t.slug = p.tenant)
      AND NOT EXISTS (SELECT 1 FROM usage_periods e WHERE e.tenant = p.tenant AND e.closed_at IS NULL AND e.end_at < p.end_at)
    ORDER BY p.end_at, p.tenant LIMIT ${limit} FOR UPDATE OF p SKIP LOCKED`;
}

/** One period, locked; waits for a worker that is closing it. */
export async function lockPeriod(tx: Tx, tenant: string, periodId: string): Promise<(EndedPeriod & { readonly closedAt: Date | null }) | undefined> {
  const [row] = await tx.$queryRaw<(EndedPeriod & { readonly closedAt: Date | null })[]>`
    SELECT tenant, period_id AS "periodId", start_at AS "startAt", end_at AS "endAt", timezone, closed_at AS "closedAt" FROM usage_periods
    WHERE tenant = ${tenant} AND period_id = ${periodId} FOR UPDATE`;
  return row;
}

/** Id of the tenant's earliest period that ended before `endAt` and is not closed. */
export async function openPeriodBefore(tx: Tx, tenant: string, endAt: Date): Promise<string | undefined> {
  const row = await tx.usagePeriod.findFirst({ where: { tenant, closedAt: null, endAt: { lt: endAt } }, orderBy: { endAt: 'asc' }, select: { periodId: true } });
  return row?.periodId;
}

/** The last statement of each tenant: what the next one follows. */
export async function lastStatements(tx: Tx, tenants: readonly string[]): Promise<Map<string, { readonly number: number; readonly hash: string }>> {
  const rows = await tx.$queryRaw<{ tenant: string; number: number; hash: string }[]>`
    SELECT w.tenant, s.number, s.hash FROM unnest(${[...tenants]}::text[]) AS w(tenant)
    CROSS JOIN LATERAL (SELECT number, hash FROM statements WHERE statements.tenant = w.tenant ORDER BY number DESC LIMIT 1) s`;
  return new Map(rows.map(({ tenant, number, hash }) => [tenant, { number, hash }]));
}

export interface NewStatement {
  readonly id: string;
  readonly startAt: Date;
  readonly closedAt: Date;
  readonly content: StatementContent;
  readonly hash: string;
}

/** In one statement of text columns: as Prisma's parameters the contents of a batch would take longer than its figures. */
export async function insertStatements(tx: Tx, statements: readonly NewStatement[]): Promise<void> {
  const column = (of: (row: NewStatement) => string | number): string[] => statements.map((row) => String(of(row)));
  await tx.$executeRaw`
    INSERT INTO statements (id, tenant, period_id, number, start_at, closed_at, closed_by, content, previous_hash, hash)
    SELECT id::uuid, tenant, period_id, number::int, start_at::timestamptz, closed_at::timestamptz, closed_by, content::jsonb, previous_hash, hash
    FROM unnest(${column(({ id }) => id)}::text[], ${column(({ content }) => content.tenant)}::text[], ${column(({ content }) => content.period.id)}::text[],
      ${column(({ content }) => content.number)}::text[], ${column(({ startAt }) => startAt.toISOString())}::text[], ${column(({ closedAt }) => closedAt.toISOString())}::text[],
      ${column(({ content }) => content.closedBy)}::text[], ${column(({ content }) => JSON.stringify(content))}::text[],
      ${column(({ content }) => content.previousHash)}::text[], ${column(({ hash }) => hash)}::text[])
      AS made(id, tenant, period_id, number, start_at, closed_at, closed_by, content, previous_hash, hash)`;
}

export async function markClosed(tx: Tx, periods: readonly PeriodKey[], closedAt: Date): Promise<void> {
  await tx.$executeRaw`
    UPDATE usage_periods p SET closed_at = ${closedAt} FROM unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS c(tenant, period_id)
    WHERE p.tenant = c.tenant AND p.period_id = c.period_id`;
}

/**
 * Takes the notes of late usage off periods that are about to be closed: what was committed until now is read into the statement. Before the figures are read;
 * a note that its writer still holds is left for the adjustments.
 */
export async function takeNotes(tx: Tx, periods: readonly PeriodKey[]): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM usage_late WHERE (tenant, period_id) IN (
      SELECT l.tenant, l.period_id FROM usage_late l
      JOIN unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS c(tenant, period_id) ON c.tenant = l.tenant AND c.period_id = l.period_id
      FOR UPDATE OF l SKIP LOCKED)`;
}

/** Units drawn from top-ups in the periods, by tenant, period and meter. */
export async function readDraws(db: PrismaService | Tx, periods: readonly PeriodKey[]): Promise<(PeriodKey & { readonly meter: string; readonly units: bigint })[]> {
  const rows = await db.$queryRaw<(PeriodKey & { meter: string; units: string })[]>`
    SELECT t.slug AS tenant, d.period_id AS "periodId", u.meter, sum(d.units)::text AS units
    FROM tenants t JOIN top_ups u ON u.tenant_id = t.id JOIN top_up_draws d ON d.top_up_id = u.id
    JOIN unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS c(tenant, period_id) ON c.tenant = t.slug AND c.period_id = d.period_id
    GROUP BY t.slug, d.period_id, u.meter`;
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }));
}

/** Units that the periods left to the next ones, by tenant, period and meter. */
export async function readCarriedOut(db: PrismaService | Tx, periods: readonly EndedPeriod[]): Promise<(PeriodKey & { readonly meter: string; readonly units: bigint })[]> {
  return db.$queryRaw`
    SELECT w.tenant, w.period_id AS "periodId", c.meter, c.units
    FROM unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS w(tenant, period_id)
    JOIN usage_periods own ON own.tenant = w.tenant AND own.period_id = w.period_id
    JOIN usage_periods next ON next.tenant = own.tenant AND next.start_at = own.end_at
    JOIN usage_carries c ON c.tenant = next.tenant AND c.period_id = next.period_id`;
}
