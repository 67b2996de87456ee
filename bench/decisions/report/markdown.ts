import { BASE, OURS } from '../contenders/registry';
import { COMPARISONS, type ComparisonKey } from '../parent/comparisons';
import { against, spread, type Row } from '../parent/rounds';
import type { Results } from '../parent/run';
import { HEADINGS, markdownTable, rowsOfTable } from '../parent/table';
import { RATIOS } from './ratios';
import { TARGETS, verdictOn } from './targets';

/** What a reader needs to believe the figures: where, how, what was aimed at, and all that was seen. */
export function markdownOf(results: Results): string {
  const { machine, proofs = [], raiseMs, fleets = [], memory } = results;
  return `${[
    '# Decisions, side by side',
    `Written by \`npm run bench\`. ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB; Node ${machine.node}; one local Redis ${machine.redis} without persistence; ${machine.measuredAt} UTC.`,
    `Each contender runs in a process of its own, warmed up first; slices of a second take turns and ratios are taken within a round against ${BASE}, which also runs against itself (A/A): what that ratio is away from 1 is noise. Medians, quartiles in brackets. \`${OURS}\` is the whole guard but for the web framework: policy, head, segment, journal, statistics, metrics, deadlines and response fields of each call. Node us and Redis us are CPU time a decision.`,
    '## Targets', targetTable(results),
    '## Where the whole guard stands', guardAgainstStore(results),
    ...Object.entries(results.tables).flatMap(([key, rows]) => [`## ${COMPARISONS[key as ComparisonKey].title}`, markdownTable(HEADINGS, rowsOfTable(rows))]),
    '## Nodes, memory and a raise',
    [
      ...(fleets.length > 0 ? [markdownTable(['nodes', 'decisions/s in all', 'quartiles'], fleets.map(({ nodes, perSecond }) => [String(nodes), figure(perSecond.median), `${figure(perSecond.low)}-${figure(perSecond.high)}`]))] : []),
      ...(memory ? [`Bytes of Redis a key, over 100,000: ${memory.oursBytes.toFixed(0)}; ${BASE}: ${memory.baseBytes.toFixed(0)}.`] : []),
      ...(raiseMs ? [`A surely denied subject is admitted ${raiseMs.median.toFixed(1)} ms after the publication of a raised limit (quartiles ${raiseMs.low.toFixed(1)}-${raiseMs.high.toFixed(1)}; 0 is the very next call).`] : []),
    ].join('\n\n'),
    '## Exactness in this run',
    'Each subject may pass 100 times and was asked about 150 times at once, by each process. Admitted:',
    markdownTable(['who', 'subjects', 'each admitted'], proofs.map(({ what, admitted }) => [what, String(admitted.length), [...new Set(admitted)].join(', ')])),
  ].join('\n\n')}\n`;
}

const figure = (value: number): string => Math.round(value).toLocaleString('en-US');

export function targetRows(results: Results): string[][] {
  return TARGETS.flatMap((target) => {
    const value = RATIOS[target.ratio](results);
    if (value === undefined) return [];
    const sign = target.better === 'higher' ? '>=' : '<=';
    const isSpread = value.low !== value.high;
    return [[
      target.what, `${value.median.toFixed(2)}${isSpread ? ` (${value.low.toFixed(2)}-${value.high.toFixed(2)})` : ''}`,
      `${sign} ${target.least}`, `${sign} ${target.goal}`, verdictOn(target, value.median),
    ]];
  });
}
export const TARGET_HEADINGS = ['what', 'ratio', 'least', 'goal', ''] as const;
const targetTable = (results: Results): string => markdownTable(TARGET_HEADINGS, targetRows(results));

/** In words: what the guard around the store costs. */
function guardAgainstStore({ tables }: Results): string {
  return (['many64', 'hot64'] as const).flatMap((key) => {
    const row = (label: string): Row | undefined => tables[key]?.find((entry) => entry.label === label);
    const [ours, store, base] = [row(OURS), row('quotaplane store'), row(BASE)];
    if (!ours || !store || !base) return [];
    const times = (of: Row): string => against(of, base, 'perSecond').median.toFixed(2);
    const micros = (of: Row): string => spread(of, 'cpuMicros').median.toFixed(1);
    return [`${COMPARISONS[key].title}: the store alone decides ${times(store)} times as many calls as ${BASE} at ${micros(store)} us of Node each; the whole guard ${times(ours)} times as many at ${micros(ours)} us. The difference is what policies, journal, statistics, metrics and response fields cost.`];
  }).join('\n\n');
}
