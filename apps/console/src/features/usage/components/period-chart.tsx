import { useMemo, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconChartLine } from '@tabler/icons-react';
import type { SeriesPoint, UsageItem } from '@quotaplane/contracts';
import { Chart } from '../../../components/chart';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { formatCount } from '../../../format/number';
import { periodSeriesQuery } from '../api/usage.queries';
import { curveOf } from './period-curve';
import classes from './usage.module.css';

interface PeriodChartProps {
  readonly item: UsageItem;
  /** The tenant's traffic is of this meter alone. */
  readonly isOnlyMeter: boolean;
}

/** Units of a period as they added up, against the allowance as a dashed line, and where they go at this pace. */
export function PeriodChart({ item, isOnlyMeter }: PeriodChartProps): ReactNode {
  const series = useQuery(periodSeriesQuery(item.tenant, item.period.start, item.period.end));
  return (
    <Loaded query={series} heightPx={220}>
      {({ points }) =>
        points.every(({ units }) => units === 0) ? (
          <Empty title="No traffic recorded" icon={<IconChartLine size={30} stroke={1.4} aria-hidden />}>
            No guard admitted a unit in this period. The ledger’s total is {formatCount(item.used)} units.
          </Empty>
        ) : (
          <Drawn item={item} points={points} isOnlyMeter={isOnlyMeter} />
        )
      }
    </Loaded>
  );
}

function Drawn({ item, points, isOnlyMeter }: PeriodChartProps & { readonly points: readonly SeriesPoint[] }): ReactNode {
  const { allowance, tenant, period, used } = item;
  const { atSeconds, series } = useMemo(() => curveOf(points, item, isOnlyMeter), [points, item, isOnlyMeter]);
  const logged = points.reduce((sum, { units }) => sum + BigInt(units), 0n).toString();
  return (
    <div>
      <Chart
        label={`Units of ${tenant} over the period that starts ${period.id}: ${formatCount(used)} used${allowance === null ? '' : ` of ${formatCount(allowance)}`}`}
        atSeconds={atSeconds}
        series={series}
        zone={period.timezone}
        axis="day"
        heightPx={200}
      />
      <p className={classes.caption}>
        Times in {period.timezone}.{' '}
        {isOnlyMeter ? `The curve is the traffic log, hour by hour: ${formatCount(logged)} of ${formatCount(item.breakdown.admitted)} admitted units.` : 'All meters of the tenant together.'}
      </p>
    </div>
  );
}
