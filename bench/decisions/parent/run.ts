import { COMPARISONS, type ComparisonKey } from './comparisons';
import { proveExactness, type Proof } from './exactness';
import type { Spread } from './figures';
import { measureFleets, type Fleet } from './fleet';
import { machineWith, type Machine } from './machine';
import { measureMemory, type Memory } from './memory';
import { measureRaise } from './raise';
import { compare, type Row } from './rounds';
import { Stage, type Pace } from './stage';
import { HEADINGS, printTable, rowsOfTable } from './table';

/** Parts of a run in their order; a comparison's name, or what is measured otherwise. */
export const PARTS = ['exactness', ...(Object.keys(COMPARISONS) as ComparisonKey[]), 'raise', 'fleet', 'memory'] as const;
export type Part = (typeof PARTS)[number];
/** What a first look leaves out. */
export const SLOW_PARTS: readonly Part[] = ['many256', 'hot256', 'growth', 'fleet', 'memory'];

export interface Plan {
  readonly program: string;
  readonly pace: Pace;
  readonly parts: readonly Part[];
  /** Who takes part beside the base; undefined: everyone. */
  readonly contenders: readonly string[] | undefined;
}

/** All that was measured; a part that was left out is missing. */
export interface Results {
  readonly machine: Machine;
  readonly tables: Partial<Record<ComparisonKey, readonly Row[]>>;
  readonly proofs?: readonly Proof[];
  readonly raiseMs?: Spread;
  readonly fleets?: readonly Fleet[];
  readonly memory?: Memory;
}

/** Runs the parts and prints each table as it is done. */
export async function run({ program, pace, parts, contenders }: Plan): Promise<Results> {
  const stage = await Stage.open(program, pace);
  const has = (part: Part): boolean => parts.includes(part);
  try {
    const proofs = has('exactness') ? await proveExactness(stage) : undefined;
    if (proofs) console.log(`exact: ${proofs.length} proofs, each subject admitted 100 of 150 or more`);
    const tables: Partial<Record<ComparisonKey, readonly Row[]>> = {};
    for (const [key, comparison] of Object.entries(COMPARISONS) as [ComparisonKey, (typeof COMPARISONS)[ComparisonKey]][]) {
      if (!has(key)) continue;
      const entries = comparison.entries.filter(({ contender }, at) => at === 0 || contenders?.includes(contender) !== false);
      const rows = await compare(stage, { ...comparison, entries });
      tables[key] = rows;
      printTable(comparison.title, HEADINGS, rowsOfTable(rows));
    }
    const raiseMs = has('raise') ? await measureRaise(stage) : undefined;
    if (raiseMs) console.log(`\nadmitted after a raise: median ${raiseMs.median.toFixed(1)} ms`);
    const fleets = has('fleet') ? await measureFleets(stage) : undefined;
    for (const { nodes, perSecond } of fleets ?? []) console.log(`${nodes} ${nodes === 1 ? 'node' : 'nodes'}: ${Math.round(perSecond.median).toLocaleString('en-US')}/s in all`);
    const machine = machineWith(await stage.meter.version());
    const memory = has('memory') ? await measureMemory(program, pace) : undefined;
    if (memory) console.log(`bytes of Redis a key: ${memory.oursBytes.toFixed(0)}, rate-limiter-flexible ${memory.baseBytes.toFixed(0)}`);
    return {
      machine, tables,
      ...(proofs ? { proofs } : {}), ...(raiseMs ? { raiseMs } : {}), ...(fleets ? { fleets } : {}), ...(memory ? { memory } : {}),
    };
  } finally {
    await stage.close();
  }
}
