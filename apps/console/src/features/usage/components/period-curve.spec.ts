import { expect, it } from 'vitest';
import type { UsageItem } from '@quotaplane/contracts';
import { curveOf } from './period-curve';

const START_MS = Date.parse('2026-11-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const at = (hour: number): string => new Date(START_MS + hour * HOUR_MS).toISOString();
const point = (hour: number, units: number) => ({ at: at(hour), allowed: units, units, denied: 0, deniedByLimit: {} });
const ITEM = {
  tenant: 'acme', meter: 'requests', status: 'open', used: '60', allowance: '100', remaining: '40', asOf: at(3),
  period: { id: '2026-11-01', start: at(0), end: at(10), timezone: 'UTC' },
} as unknown as UsageItem;
const hours = (atSeconds: readonly number[]): number[] => atSeconds.map((seconds) => (seconds * 1000 - START_MS) / HOUR_MS);

it('adds up by the end of each step, and draws the allowance and the pace on to the day it is spent', () => {
  const { atSeconds, series } = curveOf([point(0, 10), point(1, 20), point(2, 30)], ITEM, true);
  expect(hours(atSeconds)).toEqual([0, 1, 2, 3, 5, 10]);
  expect(series.map(({ as, values }) => [as, values])).toEqual([
    ['area', [0, 10, 30, 60, null, null]],
    ['limit', [100, 100, 100, 100, 100, 100]],
    ['forecast', [null, null, null, 60, 100, null]],
  ]);
});

it('ends the pace with the period where the allowance lasts, and has none once the period is over', () => {
  const lasting = curveOf([point(0, 60)], { ...ITEM, allowance: '1000', remaining: '940' }, true);
  expect(lasting.series.find(({ as }) => as === 'forecast')?.values.at(-1)).toBe(200);
  expect(curveOf([point(0, 60)], { ...ITEM, status: 'ended', asOf: at(12) }, true).series.map(({ as }) => as)).toEqual(['area', 'limit']);
});

it('holds the traffic of several meters against no allowance', () => {
  expect(curveOf([point(0, 60)], ITEM, false).series.map(({ as }) => as)).toEqual(['area']);
});

it('does not run ahead of the last step that is known', () => {
  const { atSeconds } = curveOf([point(0, 10), point(1, 20), point(2, 5), point(3, 1)], { ...ITEM, asOf: at(2.5) }, true);
  expect(hours(atSeconds).slice(0, 4)).toEqual([0, 1, 2, 2.5]);
});
