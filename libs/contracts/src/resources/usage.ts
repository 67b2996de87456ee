import { z } from 'zod';
import { degradedSettlement } from '../limits';
import { decimalString, exactInteger, instant, localDate, slug } from '../numbers';
import { pageOf, pageQuery } from './page';

/** `2026-11` selects the periods that start in that month; `current` the running ones. */
export const usagePeriodSelector = z.union([z.literal('current'), z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be current or YYYY-MM')]);
export const usageQuery = pageQuery.extend({ period: usagePeriodSelector.default('current'), tenant: slug.optional() });

/** One tenant, meter and billing period. used = admitted - refunded + settled (M3). */
export const usageItem = z.strictObject({
  tenant: slug,
  meter: slug,
  period: z.strictObject({ id: localDate, start: instant, end: instant, timezone: z.string() }),
  status: z.enum(['open', 'ended']),
  used: decimalString,
  allowance: decimalString.nullable(),
  /** Units above the allowance. */
  overage: decimalString,
  /** Units above the allowance that the tier bills. */
  billable: decimalString,
  breakdown: z.strictObject({ admitted: decimalString, refunded: decimalString, degraded: decimalString, settled: decimalString }),
  /** Everything journaled up to this instant is in the figures. */
  asOf: instant,
});
export type UsageItem = z.infer<typeof usageItem>;
export const usagePage = pageOf(usageItem);

/** From inclusive, to exclusive; the last 31 days when left out. */
export const degradedUsageQuery = pageQuery.extend({ from: instant.optional(), to: instant.optional(), tenant: slug.optional() });

/**
 * Units of one tenant, meter and endpoint class that nodes admitted in one hour while the store was away, newest hour first. `settled` of them count:
 * all under `bill`, none under `waive`; under `cap` up to the allowance that was left, the earliest hours of the period first.
 */
export const degradedUsageItem = z.strictObject({
  tenant: slug,
  meter: slug,
  class: slug,
  period: localDate,
  /** Start of the hour, in store time as the node knew it. */
  hour: instant,
  degraded: decimalString,
  settled: decimalString,
  settlement: degradedSettlement,
});
export type DegradedUsageItem = z.infer<typeof degradedUsageItem>;
export const degradedUsagePage = pageOf(degradedUsageItem);

export const usageExportQuery = z.strictObject({
  period: usagePeriodSelector.default('current'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
});

/** Series of one tenant; from inclusive, to exclusive, `step` in seconds, at most 2,000 points. */
export const seriesQuery = z.strictObject({
  from: instant.optional(),
  to: instant.optional(),
  step: z.coerce.number().int().min(60).max(86_400).default(60),
});
export const seriesPoint = z.strictObject({
  at: instant,
  allowed: exactInteger,
  units: exactInteger,
  denied: exactInteger,
  deniedByLimit: z.record(z.string(), exactInteger),
});
export type SeriesPoint = z.infer<typeof seriesPoint>;
export const usageSeries = z.strictObject({ tenant: slug, stepSeconds: z.int(), points: z.array(seriesPoint) });
