import { lazy, Suspense, type ReactNode } from 'react';

const ChartPlot = lazy(async () => ({ default: (await import('./chart-plot')).ChartPlot }));

export interface ChartSeries {
  readonly label: string;
  /** CSS variable of its colour. */
  readonly color: string;
  readonly as: 'area' | 'bars' | 'line' | 'limit' | 'forecast';
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** What the chart shows, in words, for those who cannot see it. */
  readonly label: string;
  readonly atSeconds: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Times are drawn in this zone. */
  readonly zone: string;
  readonly axis?: 'clock' | 'day';
  readonly heightPx?: number;
}

/** A time series with its legend in words; series are told apart by shape and dash as well as colour. The rest of the page does not wait for it. */
export function Chart({ axis = 'clock', heightPx = 180, ...props }: ChartProps): ReactNode {
  return (
    <Suspense fallback={<div style={{ minHeight: heightPx }} aria-busy="true" />}>
      <ChartPlot axis={axis} heightPx={heightPx} {...props} />
    </Suspense>
  );
}
