import type { Spread } from './figures';
import { against, spread, type Row } from './rounds';

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const fixed = (digits: number) => (value: number): string => value.toFixed(digits);
const spelt = ({ median, low, high }: Spread, text: (value: number) => string): string => `${text(median)} (${text(low)}-${text(high)})`;

export const HEADINGS = ['contender', 'decisions/s', 'ratio', 'Node us', 'ratio', 'Redis us', 'ratio', 'p50 ms', 'ratio', 'p99 ms', 'ratio'] as const;

/** Medians, with the quartiles of what is compared to the first row. */
export function rowsOfTable(rows: readonly Row[]): string[][] {
  const [base] = rows;
  return base === undefined ? [] : rows.map((row) => cellsOf(row, base));
}

const cellsOf = (row: Row, base: Row): string[] => [
  row.label,
  whole(spread(row, 'perSecond').median), spelt(against(row, base, 'perSecond'), fixed(2)),
  fixed(2)(spread(row, 'cpuMicros').median), spelt(against(row, base, 'cpuMicros'), fixed(2)),
  fixed(2)(spread(row, 'redisMicros').median), fixed(2)(against(row, base, 'redisMicros').median),
  fixed(3)(spread(row, 'p50Ms').median), fixed(2)(against(row, base, 'p50Ms').median),
  fixed(2)(spread(row, 'p99Ms').median), spelt(against(row, base, 'p99Ms'), fixed(2)),
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
