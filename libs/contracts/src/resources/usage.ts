import { z } from 'zod';
import { degradedSettlement } from '../limits';
import { decimalString, exactInteger, instant, localDate, slug } from '../numbers';
import { pageOf, pageQuery } from './page';

/** `2026-11` selects the periods that start in that month; `current` the running ones. */
export const usagePeriodSelector = z.union([z.literal('current'), z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be current or YYYY-MM')]);
export const usageQuery = pageQuery.extend({ period: usagePeriodSelector.default('current'), tenant: slug.optional() });

/** A billing period as it is shown; `timezone` is the zone it was cut in. */
export const shownPeriod = z.strictObject({ id: localDate, start: instant, end: instant, timezone: z.string() });

/**
 * Where the used units come from: used = admitted - refunded + settled + external + late + recovered + corrections. `degraded` was admitted while
 * the store was away, `settled` of it counts by the tier's rule; `external` came over REST, `late` of it after the period's end; `recovered` stood in
 * the counter of Redis and in no node's journal, since the node died; `corrections` are negative records, at most 0.
 */
export const usageBreakdown = z.strictObject({
  admitted: decimalString,
  refunded: decimalString,
  degraded: decimalString,
  settled: decimalString,
  external: decimalString,
  late: decimalString,
  recovered: decimalString,
  corrections: decimalString,
});
export type UsageBreakdown = z.infer<typeof usageBreakdown>;

/** An `alertAt` of the tier that was reached, in percent. */
export const reachedThreshold = z.strictObject({ percent: z.int(), reachedAt: instant });

/** One tenant, meter and billing period. */
export const usageItem = z.strictObject({
  tenant: slug,
  meter: slug,
  period: shownPeriod,
  status: z.enum(['open', 'ended', 'closed']),
  used: decimalString,
  /** In force now, or at the period's end: base, carried units and top-ups. */
  allowance: decimalString.nullable(),
  /** Of `allowance`: carried over from the period before. */
  carried: decimalString,
  /** Of `allowance`: top-ups. */
  granted: decimalString,
  /** Units left of the allowance that counts now; after a tier change with `restart` of the new one alone. Null when unlimited. */
  remaining: decimalString.nullable(),
  /** Units above the allowance. */
  overage: decimalString,
  /** Units above the allowance that the tier bills. */
  billable: decimalString,
  breakdown: usageBreakdown,
  thresholds: z.array(reachedThreshold),
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

/** `cursor`: the last row that was taken, from its own `cursor` member; the stream goes on behind it. */
export const usageExportQuery = z.strictObject({
  period: usagePeriodSelector.default('current'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
  tenant: slug.optional(),
  cursor: z.string().max(500).optional(),
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
