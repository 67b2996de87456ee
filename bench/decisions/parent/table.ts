import type { Spread } from './figures';
import type { Row } from './rounds';

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const fixed = (digits: number) => (value: number): string => value.toFixed(digits);
const spread = ({ median, low, high }: Spread, text: (value: number) => string): string => `${text(median)} (${text(low)}-${text(high)})`;

export const HEADINGS = ['contender', 'decisions/s', 'ratio', 'Node us', 'ratio', 'Redis us', 'ratio', 'p50 ms', 'p99 ms', 'ratio'] as const;

/** Medians, and the quartiles of what is compared. */
export const cellsOf = (row: Row): string[] => [
  row.label,
  whole(row.perSecond.median), spread(row.ratio, fixed(2)),
  fixed(2)(row.cpuMicros.median), spread(row.cpuRatio, fixed(2)),
  fixed(2)(row.redisMicros.median), fixed(2)(row.redisRatio.median),
  fixed(3)(row.p50Ms.median),
  fixed(2)(row.p99Ms.median), spread(row.p99Ratio, fixed(2)),
];

/** For a terminal: columns aligned, figures to the right. */
export function printTable(title: string, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  console.log(`\n${title}\n${line(headings)}\n${rows.map(line).join('\n')}`);
}

export const markdownTable = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map((_, column) => (column === 0 ? '---' : '---:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
