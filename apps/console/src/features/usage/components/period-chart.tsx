import { useMemo, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconChartLine } from '@tabler/icons-react';
import type { SeriesPoint, UsageItem } from '@quotaplane/contracts';
import { Chart, type ChartSeries } from '../../../components/chart';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { formatCount } from '../../../format/number';
import { periodSeriesQuery } from '../api/usage.queries';

/** Units of a period as they added up, with the allowance as a dashed line. */
export function PeriodChart({ item }: { readonly item: UsageItem }): ReactNode {
  const series = useQuery(periodSeriesQuery(item.tenant, item.period.start, item.period.end));
  return (
    <Loaded query={series} heightPx={220}>
      {({ points }) =>
        points.every(({ units }) => units === 0) ? (
          <Empty title="No traffic recorded" icon={<IconChartLine size={30} stroke={1.4} aria-hidden />}>
            This period has no units in the traffic log. The ledger’s total is {formatCount(item.used)} units.
          </Empty>
        ) : (
          <Drawn item={item} points={points} />
        )
      }
    </Loaded>
  );
}

function Drawn({ item, points }: { readonly item: UsageItem; readonly points: readonly SeriesPoint[] }): ReactNode {
  const { allowance, tenant, period } = item;
  const atSeconds = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const series = useMemo((): ChartSeries[] => {
    const used = points.reduce<number[]>((sums, { units }) => [...sums, (sums.at(-1) ?? 0) + units], []);
    const limit: ChartSeries[] =
      allowance === null ? [] : [{ label: 'Allowance', color: '--qp-bad-mark', as: 'limit', values: points.map(() => Number(allowance)) }];
    return [{ label: 'Units, running total', color: '--mantine-color-brand-5', as: 'area', values: used }, ...limit];
  }, [points, allowance]);
  return (
    <Chart
      label={`Units of ${tenant} over the period that starts ${period.id}: ${formatCount(item.used)} used${allowance === null ? '' : ` of ${formatCount(allowance)}`}`}
      atSeconds={atSeconds}
      series={series}
      zone={period.timezone}
      axis="day"
    />
  );
}
