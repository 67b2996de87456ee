import { MAX_EXACT } from '@quotaplane/contracts';
import type { ExternalSums, RecordRow } from './records-sql';

type Sum = 'external' | 'late' | 'corrections' | 'adjusted';
type Key = Pick<ExternalSums, 'tenant' | 'periodId' | 'meter' | 'part'>;

const SUM_OF: Readonly<Record<RecordRow['kind'], Sum>> = { external: 'external', late: 'late', correction: 'corrections', adjustment: 'adjusted' };
const NOTHING = { external: 0n, late: 0n, corrections: 0n, adjusted: 0n } as const;
const LARGEST = BigInt(MAX_EXACT);

const keyOf = ({ tenant, periodId, meter, part }: Key): string => [tenant, periodId, meter, part].join('|');

/** The keys that some rows are summed under, each once. */
export const sumKeysOf = (rows: readonly RecordRow[]): Key[] =>
  [...new Map(rows.map(({ tenant, periodId, meter, part }) => [keyOf({ tenant, periodId, meter, part }), { tenant, periodId, meter, part }])).values()];

/** What some rows add to the sums. A correction is held as a positive number. */
export const additionsOf = (rows: readonly RecordRow[]): ExternalSums[] => {
  const sums = new Map(sumKeysOf(rows).map((key): [string, ExternalSums] => [keyOf(key), { ...key, ...NOTHING }]));
  for (const row of rows) {
    const held = sums.get(keyOf(row));
    if (held) sums.set(keyOf(row), withRow(held, row));
  }
  return [...sums.values()];
};

/**
 * Rows that would take a sum past 2^53-1, counted in their order upon what is held: exact or refused (P14).
 * @returns their `index`
 */
export function beyondExact(rows: readonly RecordRow[], held: readonly ExternalSums[]): ReadonlySet<number> {
  const sums = new Map(held.map((sum) => [keyOf(sum), sum]));
  const beyond = new Set<number>();
  for (const row of [...rows].sort((a, b) => a.index - b.index)) {
    const { tenant, periodId, meter, part } = row;
    const next = withRow(sums.get(keyOf(row)) ?? { tenant, periodId, meter, part, ...NOTHING }, row);
    const sum = next[SUM_OF[row.kind]];
    if (sum > LARGEST || sum < -LARGEST) beyond.add(row.index);
    else sums.set(keyOf(row), next);
  }
  return beyond;
}

const withRow = (sums: ExternalSums, { kind, units }: RecordRow): ExternalSums => {
  const name = SUM_OF[kind];
  return { ...sums, [name]: sums[name] + (kind === 'correction' ? -units : units) };
};
