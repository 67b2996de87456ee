import { OURS } from '../contenders/registry';
import { SUBJECTS } from '../scenario';
import { spreadOf, type Spread } from './figures';
import type { Stage } from './stage';

const NODES = [1, 2, 4, 8] as const;
const ROUNDS = 3;
const CALLERS = 64;
const WARM_UP_MS = 2_000;

export interface Fleet {
  readonly nodes: number;
  /** All nodes together. */
  readonly perSecond: Spread;
}

/** Decisions a second of one, two, four and eight processes at once on the same 10,000 users. */
export async function measureFleets(stage: Stage): Promise<Fleet[]> {
  const total = async (nodes: number, forMs: number): Promise<number> => {
    const processes = await stage.several(OURS, nodes);
    const slices = await Promise.all(processes.map((contender) => contender.load('users', { subjects: SUBJECTS.users, callers: CALLERS, forMs })));
    return slices.reduce((sum, { decisions, wallMs }) => sum + (decisions * 1_000) / wallMs, 0);
  };
  await total(Math.max(...NODES), WARM_UP_MS);
  const totals = NODES.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, nodes] of NODES.entries()) totals[at]?.push(await total(nodes, stage.pace.sliceMs));
  }
  return NODES.map((nodes, at) => ({ nodes, perSecond: spreadOf(totals[at] ?? []) }));
}
