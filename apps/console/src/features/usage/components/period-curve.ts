import type { SeriesPoint, UsageItem } from '@quotaplane/contracts';
import type { ChartSeries } from '../../../components/chart';
import { outlookOf } from './usage-figures';

interface Curve {
  readonly atSeconds: number[];
  readonly series: ChartSeries[];
}

/**
 * The running total at the end of each step, the allowance over the whole period, and a straight line from the ledger's figure to where this pace leads:
 * to the instant at which the allowance is spent, or to the period's end. Numbers here are places on a screen, so doubles do.
 */
export function curveOf(points: readonly SeriesPoint[], item: UsageItem, isOnlyMeter: boolean): Curve {
  const [startS, endS, asOfS] = [item.period.start, item.period.end, item.asOf].map((at) => Date.parse(at) / 1000) as [number, number, number];
  const stepS = points.length > 1 ? (Date.parse(points[1]?.at ?? '') - Date.parse(points[0]?.at ?? '')) / 1000 : 3600;
  const nowS = Math.min(asOfS, endS);
  const at = [startS];
  const total = [0];
  for (const point of points) {
    const reachedS = Math.min(Date.parse(point.at) / 1000 + stepS, nowS);
    const sum = (total.at(-1) ?? 0) + point.units;
    // Steps that end at the same instant, or before the period began, are one place on the axis.
    if (reachedS <= (at.at(-1) ?? 0)) total[total.length - 1] = sum;
    else {
      at.push(reachedS);
      total.push(sum);
    }
  }
  const used: ChartSeries = { label: isOnlyMeter ? `Units of ${item.meter}, running total` : 'Units of all meters, running total', color: '--mantine-color-brand-5', as: 'area', values: total };
  if (!isOnlyMeter || item.allowance === null) return { atSeconds: at, series: [used] };
  const lead = item.status === 'open' ? leadOf(item, nowS, startS, endS) : [];
  const later = [...new Set([...lead.map(([instant]) => instant), endS])].filter((instant) => instant > (at.at(-1) ?? 0)).sort((a, b) => a - b);
  const atSeconds = [...at, ...later];
  const forecast = atSeconds.map((instant) => lead.find(([each]) => each === instant)?.[1] ?? null);
  return {
    atSeconds,
    series: [
      { ...used, values: [...total, ...later.map(() => null)] },
      { label: 'Allowance', color: '--qp-bad-mark', as: 'limit', values: atSeconds.map(() => Number(item.allowance)) },
      ...(lead.length === 0 ? [] : [{ label: 'At this pace', color: '--mantine-color-brand-5', as: 'forecast', values: forecast } satisfies ChartSeries]),
    ],
  };
}

function leadOf(item: UsageItem, nowS: number, startS: number, endS: number): [atSeconds: number, units: number][] {
  const used = Number(item.used);
  if (used <= 0 || nowS <= startS || nowS >= endS) return [];
  const outlook = outlookOf(item);
  const untilS = outlook.kind === 'ends' ? Math.round(outlook.atMs / 1000) : endS;
  return untilS <= nowS ? [] : [[nowS, used], [untilS, (used * (untilS - startS)) / (nowS - startS)]];
}
