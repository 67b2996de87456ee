import { CONTENDERS, type ContenderName } from '../contenders/registry';
import type { Comparison, Entry } from './rounds';

const names = Object.keys(CONTENDERS) as ContenderName[];
const all = (scenario: 'many' | 'hot'): Entry[] => names.map((contender) => ({ contender, scenario }));

const many = (callers: number): Comparison => ({ title: `10,000 tenants, ${callers} ${callers === 1 ? 'caller' : 'callers'}`, callers, entries: all('many') });
const hot = (callers: number): Comparison => ({ title: `One hot tenant, ${callers} callers`, callers, entries: all('hot') });

export const COMPARISONS = { many64: many(64), hot64: hot(64), many1: many(1), many256: many(256), hot256: hot(256) } as const;
