import { useEffect, useRef, type ReactNode } from 'react';
import { useComputedColorScheme } from '@mantine/core';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCount, formatShort } from '../format/number';
import { formatClock, formatDay, formatInstant } from '../format/time';
import type { ChartProps, ChartSeries } from './chart';
import classes from './chart.module.css';

/** What chart.tsx loads: uPlot on a canvas. */
export function ChartPlot({ label, atSeconds, series, zone, axis, heightPx }: Required<ChartProps>): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const plot = new uPlot(
      optionsOf(element, { series, zone, axis, heightPx }),
      [[...atSeconds], ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
    // The scheme decides the colours, which uPlot reads once.
  }, [atSeconds, series, zone, axis, heightPx, scheme]);
  return <div ref={host} className={classes.chart} role="img" aria-label={label} />;
}

function optionsOf(
  element: HTMLElement,
  { series, zone, axis, heightPx }: Required<Pick<ChartProps, 'series' | 'zone' | 'axis' | 'heightPx'>>,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const font = `11px ${style.fontFamily}`;
  const grid = { stroke: color('--qp-line'), width: 1 };
  return {
    width: element.clientWidth,
    height: heightPx,
    // Room on the right for half of the last label.
    padding: [10, 24, 0, 0],
    cursor: { points: { size: 6 }, y: false, drag: { x: false, y: false } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: {
      // Half a step on either side, so that the first and the last bar stand whole.
      x: { range: (plot, min, max) => [min - halfStep(plot), max + halfStep(plot)] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.08)] },
    },
    hooks: { setCursor: [(plot) => void plot.root.toggleAttribute('data-pointed', plot.cursor.idx !== null && (plot.cursor.left ?? -1) >= 0)] },
    axes: [
      {
        stroke: color('--qp-muted'),
        font,
        grid: { show: false },
        ticks: { show: false },
        values: (_plot, splits) =>
          splits.map((seconds) =>
            axis === 'day' ? formatDay(seconds * 1000, zone).replace(/ \d{4}$/, '') : formatClock(seconds * 1000, zone).slice(0, 5),
          ),
        space: 70,
        size: 28,
      },
      {
        stroke: color('--qp-muted'),
        font,
        grid,
        ticks: { show: false },
        size: 52,
        values: (_plot, splits) => splits.map((value) => (Number.isInteger(value) ? formatShort(value) : '')),
      },
    ],
    legend: { markers: { dash: (plot, index) => LEGEND_DASHES[series[index - 1]?.as ?? 'area'] ?? 'solid' } },
    series: [
      { label: 'Time', value: (_plot, seconds) => (seconds === null ? '–' : formatInstant(seconds * 1000, zone)) },
      ...series.map(
        (each): uPlot.Series => ({
          label: each.label,
          stroke: color(each.color),
          width: each.as === 'bars' ? 0 : 1.6,
          dash: DASHES[each.as],
          fill: each.as === 'area' ? `${color(each.color)}22` : each.as === 'bars' ? color(each.color) : undefined,
          points: { show: false },
          paths: each.as === 'bars' ? uPlot.paths.bars?.({ size: [0.7, 14], align: 0 }) : undefined,
          value: (_plot, value) => figureOf(value),
        }),
      ),
    ],
  };
}

const DASHES: Readonly<Partial<Record<ChartSeries['as'], number[]>>> = { limit: [5, 4], forecast: [2, 3] };

const LEGEND_DASHES: Readonly<Partial<Record<ChartSeries['as'], string>>> = { limit: 'dashed', forecast: 'dotted' };

/** A pixel is as exact as a double; a figure beyond 2^53 says that it is rounded. */
function figureOf(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? `about ${formatShort(Math.round(value))}` : formatCount(Math.round(value));
}

function halfStep({ data: [at] }: uPlot): number {
  const [first, second] = at;
  return first === undefined || second === undefined ? 0 : (second - first) / 2;
}
