import type { Slice } from './app-under-load';
import { spreadOf, type Spread } from './figures';

export interface Row {
  readonly name: string;
  /** One a round. */
  readonly slices: Slice[];
}

/** A table of one framework; the first two rows are the unguarded app. */
export function tableOf(framework: string, rows: readonly Row[]): string {
  const [first, second] = rows;
  const base = (first?.slices ?? []).map(({ perSecond }, round) => (perSecond + (second?.slices[round]?.perSecond ?? perSecond)) / 2);
  const lines = rows.map(({ name, slices }) => {
    const of = (figure: (slice: Slice) => number): Spread => spreadOf(slices.map(figure));
    const ratio = spreadOf(slices.map(({ perSecond }, round) => perSecond / (base[round] ?? Number.NaN)));
    const { middle: perSecond } = of((slice) => slice.perSecond);
    const cells = [
      name, Math.round(perSecond).toLocaleString('en'), `${ratio.middle.toFixed(2)} (${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)})`,
      of((slice) => slice.cpuMicros).middle.toFixed(1), of((slice) => slice.p50Ms).middle.toFixed(2), of((slice) => slice.p99Ms).middle.toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `\n## ${framework}\n\n| guard | req/s | against unguarded | CPU us/request | p50 ms | p99 ms |\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`;
}
