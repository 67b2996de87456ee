import type { DegradedUsageItem } from '@quotaplane/contracts';

/** What a tier does with units that were admitted while the store was away. */
export const SETTLEMENT_WORDS: Readonly<Record<DegradedUsageItem['settlement'], string>> = {
  bill: 'bill: all count',
  waive: 'waive: none counts',
  cap: 'cap: up to the allowance',
};

/** Exact, however large. */
export const sumOf = <T>(items: readonly T[], of: (item: T) => string): string => String(items.reduce((sum, item) => sum + BigInt(of(item)), 0n));
