import { useMemo, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconActivity } from '@tabler/icons-react';
import type { SeriesPoint } from '@quotaplane/contracts';
import { Chart, type ChartSeries } from '../../../components/chart';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { formatCount } from '../../../format/number';
import { recentTrafficQuery } from '../api/usage.queries';

/** Allowed and denied requests of the last hour. */
export function TrafficChart({ tenant, zone }: { readonly tenant: string; readonly zone: string }): ReactNode {
  const traffic = useQuery(recentTrafficQuery(tenant));
  return (
    <Loaded query={traffic} heightPx={220}>
      {({ points }) =>
        points.every(({ allowed, denied }) => allowed + denied === 0) ? (
          <Empty title="Quiet for an hour" icon={<IconActivity size={30} stroke={1.4} aria-hidden />}>
            No guarded service has seen this tenant in the last 60 minutes.
          </Empty>
        ) : (
          <Drawn points={points} zone={zone} />
        )
      }
    </Loaded>
  );
}

function Drawn({ points, zone }: { readonly points: readonly SeriesPoint[]; readonly zone: string }): ReactNode {
  const atSeconds = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const series = useMemo(
    (): ChartSeries[] => [
      // Denied stand on top of allowed, so the bar's height is all that was asked.
      {
        label: 'Denied per min (on top)',
        color: '--qp-bad-mark',
        as: 'bars',
        values: points.map(({ allowed, denied }) => (denied > 0 ? allowed + denied : 0)),
      },
      { label: 'Allowed per min', color: '--mantine-color-brand-5', as: 'bars', values: points.map(({ allowed }) => allowed) },
    ],
    [points],
  );
  const [allowed, denied] = [points.reduce((sum, point) => sum + point.allowed, 0), points.reduce((sum, point) => sum + point.denied, 0)];
  return (
    <Chart
      label={`Last hour: ${formatCount(allowed)} requests allowed, ${formatCount(denied)} denied`}
      atSeconds={atSeconds}
      series={series}
      zone={zone}
    />
  );
}
