import { NO_USAGE, settle, type UsageSums } from '@quotaplane/usage';
import { expect, it } from 'vitest';
import type { PartFigures } from '../usage/meter-figures';
import { lineTotals, statementLine } from './statement-lines';

const PERIOD = { id: '2026-08-01', startMs: 0, endMs: 1, timezone: 'UTC' };
const partOf = (sums: Partial<UsageSums>, part = 1): PartFigures => ({
  ...settle({ ...NO_USAGE, ...sums }, { settlement: 'bill', allowance: 100n, overage: 'bill' }),
  part, tier: 'pro', tierVersion: 1, allowance: 100n, carried: 0n, granted: 0n, overagePolicy: 'bill', settlement: 'bill',
});
const lineOf = (...parts: PartFigures[]) => statementLine({ tenant: 'acme', meter: 'requests', period: PERIOD, parts }, { drawn: 0n, carriedOut: 0n });

// Mutations: add to what is shown, and what was corrected below 0 is billed when more comes; let a total be negative; leave the overage where it was.
it.each([
  ['nothing', lineOf(partOf({ admitted: 130n })), 0n, 130n, 30n],
  ['more, past the allowance', lineOf(partOf({ admitted: 90n })), 30n, 120n, 20n],
  ['less than the overage', lineOf(partOf({ admitted: 130n })), -10n, 120n, 20n],
  ['more, after corrections beyond what was used', lineOf(partOf({ admitted: 30n, corrections: 50n })), 30n, 10n, 0n],
  ['corrections beyond what was used', lineOf(partOf({ admitted: 30n })), -50n, 0n, 0n],
  ['more, into the last of two parts', lineOf(partOf({ admitted: 130n }), partOf({ admitted: 90n }, 2)), 20n, 240n, 40n],
  ['a meter that the statement lacks', undefined, 7n, 7n, 0n],
] as const)('adds up a line and what came after closing: %s', (_what, line, adjusted, used, billable) => {
  expect(lineTotals(line, adjusted)).toEqual({ used, billable });
});
