import type { RouteOutput, routes, StatementLine, StatementVerification } from '@quotaplane/contracts';
import type { PrismaService, Tx } from '../database/prisma.service';
import { lineFaults, rawFaults } from './figure-faults';
import { meterKey, NO_SUMS, periodKey, readRawSums, readRecordSums, type PeriodKey, type RawRow } from './raw-sums';
import { adjustmentHash, NO_HASH, statementHash } from './statement-hash';
import { readableLines, storedStatement, type StatementRow } from './stored-statement';

type Problem = StatementVerification['problems'][number];

const STATEMENTS_PER_PAGE = 200;
const LONGEST_MS = 600_000;
const PROBLEMS_MAX = 100;

/** Raw rows of a page of statements, read anew. */
interface RawRows {
  readonly sums: ReadonlyMap<string, readonly RawRow[]>;
  readonly records: ReadonlyMap<string, bigint>;
}

interface Link {
  readonly tenant: string;
  readonly number: number;
  readonly hash: string;
}

/**
 * Recomputes every hash, walks every chain and holds each statement with its adjustments against the raw rows, read anew. In one snapshot, so that closings made
 * meanwhile cannot look like faults; in pages, so that memory does not grow with the ledger. What was written to an ended period a moment ago and waits for its
 * adjustment is no fault.
 * @param tenant only this one's
 */
export function verifyStatements(prisma: PrismaService, tenant?: string): Promise<RouteOutput<typeof routes.statementsVerify>> {
  const startedAt = performance.now();
  return prisma.transaction(async (tx) => {
    const problems: Problem[] = await missingStatements(tx, tenant);
    let last: Link = { tenant: '', number: 0, hash: NO_HASH };
    let [statements, tenants] = [0, 0];
    for (;;) {
      const page = await statementsAfter(tx, last, tenant);
      const raw: RawRows = { sums: await readRawSums(tx, page), records: await readRecordSums(tx, page) };
      const waiting = await notedOf(tx, page);
      for (const row of page) {
        const isFirst = row.tenant !== last.tenant;
        problems.push(...problemsOf(row, isFirst ? { tenant: row.tenant, number: 0, hash: NO_HASH } : last, waiting.has(periodKey(row)) ? undefined : raw));
        tenants += isFirst ? 1 : 0;
        statements += 1;
        last = row;
      }
      problems.splice(PROBLEMS_MAX);
      if (page.length < STATEMENTS_PER_PAGE) break;
    }
    return { isSound: problems.length === 0, statements, tenants, problems, tookMs: Math.round(performance.now() - startedAt) };
  }, { isolationLevel: 'RepeatableRead', timeoutMs: LONGEST_MS });
}

const statementsAfter = (tx: Tx, last: Link, tenant: string | undefined): Promise<StatementRow[]> =>
  tx.statement.findMany({
    where: { ...(tenant === undefined ? {} : { tenant }), OR: [{ tenant: { gt: last.tenant } }, { tenant: last.tenant, number: { gt: last.number } }] },
    orderBy: [{ tenant: 'asc' }, { number: 'asc' }],
    take: STATEMENTS_PER_PAGE,
    include: { adjustments: { orderBy: { number: 'asc' } } },
  });

async function notedOf(tx: Tx, page: readonly PeriodKey[]): Promise<ReadonlySet<string>> {
  const noted = await tx.usageLate.findMany({ where: { tenant: { in: [...new Set(page.map(({ tenant }) => tenant))] } }, select: { tenant: true, periodId: true } });
  return new Set(noted.map(periodKey));
}

/** A tenant's last statement leaves no gap where it is taken away; its closed period does. */
async function missingStatements(tx: Tx, tenant: string | undefined): Promise<Problem[]> {
  const only = tenant ?? null;
  const rows = await tx.$queryRaw<PeriodKey[]>`
    SELECT p.tenant, p.period_id AS "periodId" FROM usage_periods p
    WHERE p.closed_at IS NOT NULL AND (${only}::text IS NULL OR p.tenant = ${only})
      AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.tenant = p.tenant AND s.period_id = p.period_id)
    ORDER BY p.tenant, p.period_id LIMIT ${PROBLEMS_MAX}`;
  return rows.map(({ tenant: owner, periodId }) => ({ tenant: owner, number: 0, period: periodId, problem: 'chain', detail: 'the period is closed and its statement is missing' }));
}

/** @param raw undefined: not to be compared now */
function problemsOf(row: StatementRow, before: Link, raw: RawRows | undefined): Problem[] {
  const problem = (kind: Problem['problem']) => (detail: string): Problem => ({ tenant: row.tenant, number: row.number, period: row.periodId, problem: kind, detail });
  const lines = readableLines(row);
  return [
    ...[...chainFaults(row, before)].map(problem('chain')),
    ...[...hashFaults(row)].map(problem('hash')),
    ...[...adjustmentFaults(row)].map(problem('adjustment')),
    ...(lines ? [...figureFaults(row, lines, raw)] : ['its lines cannot be read']).map(problem('figures')),
  ];
}

function* chainFaults({ number, previousHash }: StatementRow, before: Link): Generator<string> {
  if (number !== before.number + 1) yield `statement ${before.number + 1} is missing; the next one is ${number}`;
  else if (previousHash !== before.hash) yield 'the statement does not follow the one before it';
}

function* hashFaults(row: StatementRow): Generator<string> {
  const { content, hash } = storedStatement(row);
  if (typeof content !== 'object' || content === null || statementHash(content) !== hash) {
    yield 'the content is not the one that was hashed';
    return;
  }
  const columns = [row.tenant, row.periodId, row.number, row.startAt.toISOString(), row.closedAt.toISOString(), row.closedBy, row.previousHash];
  const hashed = [content.tenant, content.period.id, content.number, content.period.start, content.closedAt, content.closedBy, content.previousHash];
  if (columns.some((value, index) => value !== hashed[index])) yield 'the columns say something else than what was hashed';
}

function* adjustmentFaults({ hash, adjustments }: StatementRow): Generator<string> {
  let last = { number: 0, hash };
  for (const { at, units, kind, ...row } of adjustments) {
    if (row.number !== last.number + 1) yield `adjustment ${last.number + 1} is missing; the next one is ${row.number}`;
    else if (row.previousHash !== last.hash) yield `adjustment ${row.number} does not follow the one before it`;
    // Any text is hashed as it stands: an unknown kind is seen by its hash.
    const own = adjustmentHash({ ...row, at: at.toISOString(), units: String(units), kind: kind as Parameters<typeof adjustmentHash>[0]['kind'] });
    if (own !== row.hash) yield `adjustment ${row.number} has been changed`;
    last = row;
  }
}

function* figureFaults(row: StatementRow, lines: readonly StatementLine[], raw: RawRows | undefined): Generator<string> {
  for (const line of lines) yield* lineFaults(line);
  if (raw === undefined) return;
  const sums = new Map((raw.sums.get(periodKey(row)) ?? []).map((one) => [one.meter, one.sums]));
  const meters = new Set([...lines.map(({ meter }) => meter), ...sums.keys(), ...row.adjustments.map(({ meter }) => meter)]);
  for (const meter of [...meters].sort()) {
    const own = sums.get(meter) ?? NO_SUMS;
    yield* rawFaults(meter, lines.find((line) => line.meter === meter), row.adjustments, own);
    const records = raw.records.get(meterKey(row.tenant, row.periodId, meter));
    const summed = own.external + own.late - own.corrections + own.adjusted;
    if (records !== undefined && records !== summed) yield `${meter}: the single usage records add up to ${records}, their sums to ${summed}`;
  }
}
