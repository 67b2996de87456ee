import type { UsageItem } from '@quotaplane/contracts';

/** Largest or smallest first by an exact comparison; equal rows keep the server's order. */
export function sortUsage(items: readonly UsageItem[], sort: string): UsageItem[] {
  const isDown = sort.startsWith('-');
  const key = isDown ? sort.slice(1) : sort;
  const compare = COMPARISONS[key];
  return compare === undefined ? [...items] : items.toSorted((a, b) => (isDown ? compare(b, a) : compare(a, b)));
}

type Comparison = (a: UsageItem, b: UsageItem) => number;
const bySize =
  (of: (item: UsageItem) => string): Comparison =>
  (a, b) => {
    const difference = BigInt(of(a)) - BigInt(of(b));
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  };
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  tenant: (a, b) => (a.tenant < b.tenant ? -1 : a.tenant > b.tenant ? 1 : 0),
  start: (a, b) => Date.parse(a.period.start) - Date.parse(b.period.start),
  used: bySize((item) => item.used),
  degraded: bySize((item) => item.breakdown.degraded),
  overage: bySize((item) => item.overage),
};
