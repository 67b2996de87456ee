import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../parent/rounds';
import type { Results } from '../parent/run';
import { spread, type Figure } from '../parent/rounds';
import { markdownOf } from './markdown';
import { HEADLINE, RATIOS, type RatioKey } from './ratios';

const FIGURES: readonly Figure[] = ['perSecond', 'cpuMicros', 'redisMicros', 'p50Ms', 'p99Ms'];

/** Writes `results.md` for people and `results.json` for programs. */
export async function writeResults(folder: string, results: Results): Promise<void> {
  const headline = Object.fromEntries(HEADLINE.map((key) => [key, RATIOS[key](results)?.median ?? null]));
  const json = { ...headline, details: detailsOf(results) };
  await writeFile(join(folder, 'results.json'), `${JSON.stringify(json, roundedAt, 2)}\n`);
  await writeFile(join(folder, 'results.md'), markdownOf(results));
}

function detailsOf({ tables, ...rest }: Results): unknown {
  const ratios = Object.fromEntries((Object.keys(RATIOS) as RatioKey[]).map((key) => [key, RATIOS[key]({ tables, ...rest })]));
  const comparisons = Object.fromEntries(Object.entries(tables).map(([key, rows]) => [key, rows.map(figuresOf)]));
  return { ...rest, ratios, comparisons };
}

const figuresOf = (row: Row): unknown => ({ label: row.label, ...Object.fromEntries(FIGURES.map((figure) => [figure, spread(row, figure)])) });

/** Four digits are more than a run can tell. */
function roundedAt(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
