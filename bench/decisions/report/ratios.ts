import { BASE, OURS, type ContenderName } from '../contenders/registry';
import { GROWTH, growthLabel, LABELS, type ComparisonKey } from '../parent/comparisons';
import type { Spread } from '../parent/figures';
import { against, type Figure, type Row } from '../parent/rounds';
import type { Results } from '../parent/run';

/** Of two rows of one comparison, round by round; undefined where one of them was left out. */
function ratio({ tables }: Results, key: ComparisonKey, figure: Figure, label: string = OURS, base: string = BASE): Spread | undefined {
  const find = (wanted: string): Row | undefined => tables[key]?.find((row) => row.label === wanted);
  const [row, other] = [find(label), find(base)];
  return row && other && against(row, other, figure);
}

const exact = (value: number): Spread => ({ median: value, low: value, high: value });
const EMPTY: ContenderName = 'empty EVALSHA';
const [fewest, most] = [growthLabel(GROWTH[0]), growthLabel(GROWTH[GROWTH.length - 1] ?? GROWTH[0])];

/** The figures that the targets speak of, each a ratio. */
export const RATIOS = {
  /** Decisions a second against rate-limiter-flexible. */
  exact64Many: (results: Results) => ratio(results, 'many64', 'perSecond'),
  exact64Hot: (results: Results) => ratio(results, 'hot64', 'perSecond'),
  exact256Many: (results: Results) => ratio(results, 'many256', 'perSecond'),
  exact256Hot: (results: Results) => ratio(results, 'hot256', 'perSecond'),
  /** CPU time of the Node process a decision, against it. */
  cpuMany: (results: Results) => ratio(results, 'many64', 'cpuMicros'),
  cpuHot: (results: Results) => ratio(results, 'hot64', 'cpuMicros'),
  p99Many: (results: Results) => ratio(results, 'many64', 'p99Ms'),
  /** Median latency of a lone caller against EVALSHA of an empty script. */
  c1: (results: Results) => ratio(results, 'many1', 'p50Ms', OURS, EMPTY),
  /** Four limits and a quota against its one limit. */
  layered: (results: Results) => ratio(results, 'layered', 'perSecond', LABELS.ours, LABELS.baseOne),
  layeredUnion: (results: Results) => ratio(results, 'layered', 'perSecond', LABELS.ours, LABELS.baseFour),
  denied: (results: Results) => ratio(results, 'denied', 'perSecond'),
  /** A thousandfold of the keys: what is left of the speed. */
  growthKeys: (results: Results) => ratio(results, 'growth', 'perSecond', most, fewest),
  /** Cost of four limits and a quota against one limit. */
  growthLimits: (results: Results) => ratio(results, 'layered', 'perSecond', LABELS.oursOne, LABELS.ours),
  /** Least step from one number of nodes to the next. */
  growthNodes: ({ fleets }: Results) =>
    fleets && exact(Math.min(...fleets.slice(1).map(({ perSecond }, at) => perSecond.median / (fleets[at]?.perSecond.median ?? 1)))),
  memory: ({ memory }: Results) => memory && exact(memory.oursBytes / memory.baseBytes),
} as const satisfies Readonly<Record<string, (results: Results) => Spread | undefined>>;
export type RatioKey = keyof typeof RATIOS;

/** What `results.json` holds at its top. */
export const HEADLINE = ['exact64Many', 'exact64Hot', 'cpuMany', 'cpuHot', 'p99Many', 'c1', 'layered', 'denied'] as const satisfies readonly RatioKey[];
