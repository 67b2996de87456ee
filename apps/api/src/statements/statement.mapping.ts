import type { RouteOutput, routes, Statement, StatementAdjustment } from '@quotaplane/contracts';
import { lineTotals } from './statement-lines';
import { storedStatement, type AdjustmentRow, type StatementRow } from './stored-statement';

/** Units that came after closing, by meter. */
export const adjustedBy = (adjustments: readonly Pick<AdjustmentRow, 'meter' | 'units'>[]): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const { meter, units } of adjustments) sums.set(meter, (sums.get(meter) ?? 0n) + units);
  return sums;
};

/** Every meter with a line or an adjustment, in order. */
export const metersOf = ({ content, adjustments }: ReturnType<typeof storedStatement>): string[] =>
  [...new Set([...content.lines.map(({ meter }) => meter), ...adjustments.map(({ meter }) => meter)])].sort();

export function statementFrom(row: StatementRow): RouteOutput<typeof routes.statementsGet> {
  const statement = storedStatement(row);
  const { content, adjustments } = statement;
  const adjusted = adjustedBy(adjustments);
  const totals = metersOf(statement).map((meter): Statement['totals'][number] => {
    const units = adjusted.get(meter) ?? 0n;
    const { used, billable } = lineTotals(content.lines.find((line) => line.meter === meter), units);
    return { meter, used: String(used), billable: String(billable), adjusted: String(units) };
  });
  return {
    id: row.id, tenant: content.tenant, number: content.number, period: content.period, closedAt: content.closedAt, closedBy: content.closedBy,
    lines: [...content.lines], reconciliation: [...content.reconciliation], previousHash: content.previousHash, hash: row.hash,
    adjustments: adjustments.map((one) => ({ ...adjustmentFrom(one) })), totals,
  };
}

/** Written by the sweep alone, which knows these kinds only. */
const adjustmentFrom = ({ number, at, meter, units, kind, reason, previousHash, hash }: AdjustmentRow): StatementAdjustment =>
  ({ number, at: at.toISOString(), meter, units: String(units), kind: kind as StatementAdjustment['kind'], reason, previousHash, hash });
