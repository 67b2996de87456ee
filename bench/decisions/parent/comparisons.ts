import { BASE, CONTENDERS, OURS, type ContenderName } from '../contenders/registry';
import type { Comparison, Entry } from './rounds';

const names = Object.keys(CONTENDERS) as ContenderName[];
const all = (scenario: 'many' | 'hot'): Entry[] => names.map((contender) => ({ contender, scenario }));

const many = (callers: number): Comparison => ({ title: `10,000 tenants, ${callers} ${callers === 1 ? 'caller' : 'callers'}`, callers, entries: all('many') });
const hot = (callers: number): Comparison => ({ title: `One hot tenant, ${callers} callers`, callers, entries: all('hot') });

export const LABELS = {
  baseOne: `${BASE}, one limit`,
  ours: `${OURS}, four limits and a monthly quota`,
  oursOne: `${OURS}, one limit`,
  baseFour: `${BASE}, union of four`,
  throttlerFour: '@nestjs/throttler on Redis, four',
} as const;

const layered: Comparison = {
  title: 'Four layered limits, 64 callers, 10,000 users', callers: 64,
  entries: [
    { label: LABELS.baseOne, contender: BASE, scenario: 'many' },
    { label: LABELS.ours, contender: OURS, scenario: 'layered' },
    { label: LABELS.oursOne, contender: OURS, scenario: 'single' },
    { label: LABELS.baseFour, contender: BASE, scenario: 'four' },
    { label: LABELS.throttlerFour, contender: '@nestjs/throttler on Redis', scenario: 'four' },
  ],
};

const denied: Comparison = {
  title: 'Surely denied: 100 subjects, 64 callers; rate-limiter-flexible with its in-memory block', callers: 64,
  entries: [{ contender: BASE, scenario: 'denied' }, { contender: OURS, scenario: 'denied' }],
};

export const GROWTH = [1_000, 10_000, 100_000, 1_000_000] as const;
export const growthLabel = (keys: number): string => `${OURS}, ${keys.toLocaleString('en-US')} keys`;
const growth: Comparison = {
  title: 'Growth: users of one tenant, 64 callers', callers: 64,
  entries: [
    { contender: BASE, scenario: 'many' },
    ...GROWTH.map((subjects): Entry => ({ label: growthLabel(subjects), contender: OURS, scenario: 'users', subjects })),
  ],
};

export const COMPARISONS = { many64: many(64), hot64: hot(64), many1: many(1), many256: many(256), hot256: hot(256), layered, denied, growth } as const;
export type ComparisonKey = keyof typeof COMPARISONS;
