import type { UsageBreakdown, UsageItem } from '@quotaplane/contracts';
import type { MeterFigures, PartFigures, TenantPeriod } from './meter-figures';

export interface ItemFacts {
  readonly status: UsageItem['status'];
  readonly thresholds: UsageItem['thresholds'];
  readonly asOf: string;
}

/** Meters of one period, and tenants with the same calendar, share it. */
const shown = new WeakMap<TenantPeriod, UsageItem['period']>();

function shownPeriodOf(period: TenantPeriod): UsageItem['period'] {
  const known = shown.get(period) ?? { id: period.id, start: new Date(period.startMs).toISOString(), end: new Date(period.endMs).toISOString(), timezone: period.timezone };
  shown.set(period, known);
  return known;
}

/** Sum of one figure over a period's parts. */
export const sumOf = (parts: readonly PartFigures[], figure: (part: PartFigures) => bigint): bigint => {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? figure(first) : parts.reduce((total, part) => total + figure(part), 0n);
};

/** Where the used units of all parts come from, as it is answered: corrections are negative. */
export function breakdownOf(parts: readonly PartFigures[]): UsageBreakdown {
  const total = (figure: (part: PartFigures) => bigint): string => String(sumOf(parts, figure));
  return {
    admitted: total((part) => part.admitted),
    refunded: total((part) => part.refunded),
    degraded: total((part) => part.degraded),
    settled: total((part) => part.settled),
    external: total((part) => part.external),
    late: total((part) => part.late),
    recovered: total((part) => part.recovered),
    corrections: total((part) => -part.corrections),
  };
}

/** Figures as they are answered: the parts' figures add up, and the allowance is the running part's. */
export function usageItemOf({ tenant, meter, period, parts }: MeterFigures, { status, thresholds, asOf }: ItemFacts): UsageItem {
  const total = (figure: (part: PartFigures) => bigint): string => String(sumOf(parts, figure));
  const running = parts.at(-1);
  const allowance = running?.allowance ?? null;
  const left = allowance === null || running === undefined ? null : allowance - running.used;
  return {
    tenant,
    meter,
    period: shownPeriodOf(period),
    status,
    used: total((part) => part.used),
    allowance: allowance === null ? null : String(allowance),
    carried: String(running?.carried ?? 0n),
    granted: String(running?.granted ?? 0n),
    remaining: left === null ? null : String(left > 0n ? left : 0n),
    overage: total((part) => part.overage),
    billable: total((part) => part.billable),
    breakdown: breakdownOf(parts),
    thresholds: [...thresholds],
    asOf,
  };
}
