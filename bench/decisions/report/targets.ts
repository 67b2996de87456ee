import type { RatioKey } from './ratios';

/** What is aimed at: `least` must be reached, `goal` is the next step. */
export interface Target {
  readonly ratio: RatioKey;
  readonly what: string;
  readonly better: 'higher' | 'lower';
  readonly least: number;
  readonly goal: number;
}

const higher = (ratio: RatioKey, what: string, least: number, goal: number): Target => ({ ratio, what, better: 'higher', least, goal });
const lower = (ratio: RatioKey, what: string, least: number, goal: number): Target => ({ ratio, what, better: 'lower', least, goal });

export const TARGETS: readonly Target[] = [
  higher('exact64Many', '10,000 tenants, 64 callers: decisions/s', 2.5, 4),
  higher('exact64Hot', 'one hot tenant, 64 callers: decisions/s', 8, 12),
  higher('exact256Many', '10,000 tenants, 256 callers: decisions/s', 3, 5),
  higher('exact256Hot', 'one hot tenant, 256 callers: decisions/s', 16, 30),
  lower('cpuMany', '10,000 tenants: Node CPU a decision', 0.25, 0.15),
  lower('cpuHot', 'one hot tenant: Node CPU a decision', 0.1, 0.05),
  lower('p99Many', '10,000 tenants, 64 callers: p99', 0.5, 0.35),
  lower('c1', '1 caller: p50 against EVALSHA of an empty script', 1.25, 1.15),
  higher('layered', 'four limits and a monthly quota against its one limit: decisions/s', 0.8, 1.2),
  higher('layeredUnion', 'the same against its union of four (the prototype: 4.5)', 1, 4.5),
  higher('denied', 'surely denied, against its in-memory block: decisions/s', 4, 7),
  higher('growthKeys', '10^6 keys against 10^3: decisions/s', 0.9, 1),
  lower('growthLimits', 'four limits and a quota against one limit: cost', 3.5, 2.5),
  higher('growthNodes', '1 to 8 nodes: least step of the total', 1, 1.02),
  lower('memory', 'memory a key in Redis', 1.9, 1.3),
];

/** `flat` and `rises` leave room for what a run cannot tell from noise. */
const NOISE = 0.97;

export function verdictOn({ better, least, goal, ratio }: Target, value: number): 'goal met' | 'met' | 'missed' {
  const reaches = (bound: number): boolean => (better === 'higher' ? value >= bound * (ratio === 'growthNodes' ? NOISE : 1) : value <= bound);
  return reaches(goal) ? 'goal met' : reaches(least) ? 'met' : 'missed';
}
