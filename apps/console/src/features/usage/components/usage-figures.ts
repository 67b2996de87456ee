import type { UsageBreakdown, UsageItem } from '@quotaplane/contracts';

/** How the allowance fares at the period's pace so far. */
export type Outlook =
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'spent' }
  | { readonly kind: 'lasts' }
  /** Spent before the period ends. */
  | { readonly kind: 'ends'; readonly atMs: number };

type Paced = Pick<UsageItem, 'used' | 'allowance' | 'remaining' | 'asOf' | 'status'> & { readonly period: Pick<UsageItem['period'], 'start' | 'end'> };

/**
 * When what remains is used up, if the rest of the period goes as it went from its start to `asOf`. By the figures' own instant and not the clock of
 * this browser, so that the date stands still between two answers. Exact beyond 2^53.
 */
export function outlookOf({ period, used, allowance, remaining, asOf, status }: Paced): Outlook {
  if (allowance === null || remaining === null) return { kind: 'unlimited' };
  if (BigInt(remaining) <= 0n) return { kind: 'spent' };
  if (status !== 'open') return { kind: 'lasts' };
  const [startMs, endMs, asOfMs] = [period.start, period.end, asOf].map((at) => Date.parse(at)) as [number, number, number];
  if (asOfMs <= startMs || BigInt(used) <= 0n) return { kind: 'unknown' };
  const leftMs = (BigInt(remaining) * BigInt(asOfMs - startMs)) / BigInt(used);
  return leftMs >= BigInt(endMs - asOfMs) ? { kind: 'lasts' } : { kind: 'ends', atMs: asOfMs + Number(leftMs) };
}

/** Units left once `units` more are granted; what is past the allowance by now takes its part first. Null while unlimited. */
export function remainingWith({ remaining, overage }: Pick<UsageItem, 'remaining' | 'overage'>, units: bigint): string | null {
  if (remaining === null) return null;
  const left = BigInt(remaining) + units - (BigInt(remaining) > 0n ? 0n : BigInt(overage));
  return String(left > 0n ? left : 0n);
}

/** One line of the sum that makes `used`. */
export interface BreakdownLine {
  readonly key: keyof UsageBreakdown;
  readonly name: string;
  /** Why it is there, in a few words. */
  readonly note: string;
  /** As it enters the sum. */
  readonly units: string;
}

const negated = (units: string): string => String(-BigInt(units));

/** Every line of the sum, in the order of the contract; `isQuiet` leaves out lines of 0 but the first. */
export function breakdownLines(breakdown: UsageBreakdown, { isQuiet = false }: { readonly isQuiet?: boolean } = {}): BreakdownLine[] {
  const { admitted, refunded, degraded, settled, external, late, recovered, corrections } = breakdown;
  const lines: BreakdownLine[] = [
    { key: 'admitted', name: 'Admitted by guards', note: 'counted in Redis', units: admitted },
    { key: 'refunded', name: 'Refunded', note: 'given back after the call', units: negated(refunded) },
    { key: 'settled', name: 'Admitted while Redis was away', note: degradedNote(degraded, settled), units: settled },
    { key: 'external', name: 'Reported from outside', note: 'usage records over REST', units: external },
    { key: 'late', name: 'Reported late', note: 'after the period’s end, before its close', units: late },
    { key: 'recovered', name: 'Recovered', note: 'counted by a node that died before it reported', units: recovered },
    { key: 'corrections', name: 'Corrections', note: 'negative records, each with a reason', units: corrections },
  ];
  return isQuiet ? lines.filter(({ key, units }) => key === 'admitted' || BigInt(units) !== 0n || (key === 'settled' && degraded !== '0')) : lines;
}

const degradedNote = (degraded: string, settled: string): string =>
  degraded === '0' ? 'none' : degraded === settled ? 'all of it counts' : `${settled === '0' ? 'none' : 'part'} of ${BigInt(degraded).toLocaleString('en-US')} counts, by the tier’s rule`;
