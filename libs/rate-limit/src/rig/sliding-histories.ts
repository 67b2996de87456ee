import { MAX_EXACT } from '@quotaplane/contracts';
import fc from 'fast-check';
import type { Check, RateCharge } from '../store';
import { HEAD, START_MS, type Step } from './random-histories';

/** Small figures, where off-by-one shows; now and then the largest. */
const small = (most: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 12, arbitrary: fc.integer({ min: 0, max: 9 }) }, { weight: 1, arbitrary: fc.integer({ min: most - 2, max: most }) });

const counterOf = (kind: RateCharge['kind'], windowMs: number): string => `qp:{t}:c:${kind}:${windowMs}`;

/** Rates of one window, one counter a kind, so that a short history meets each of them often. */
const rateOf = (windowMs: number): fc.Arbitrary<RateCharge> => {
  const mostUnits = Math.floor(MAX_EXACT / windowMs);
  const log = fc.record({ kind: fc.constant('log' as const), counter: fc.constant(counterOf('log', windowMs)), limit: small(10_000), windowMs: fc.constant(windowMs), cost: small(10_000) });
  const counter = fc.record({
    kind: fc.constant('counter' as const), counter: fc.constant(counterOf('counter', windowMs)), limit: small(MAX_EXACT), windowMs: fc.constant(windowMs), cost: small(mostUnits),
  });
  const queue = fc.record({
    kind: fc.constant('queue' as const), counter: fc.constant(counterOf('queue', windowMs)), limit: small(MAX_EXACT), windowMs: fc.constant(windowMs), capacity: small(mostUnits),
    maxWaitMs: fc.constantFrom(0, 1, windowMs, 3 * windowMs, MAX_EXACT), cost: small(mostUnits),
  });
  return fc.oneof({ weight: 3, arbitrary: log }, { weight: 2, arbitrary: counter }, { weight: 3, arbitrary: queue });
};

const checkOf = (charges: readonly RateCharge[]): Check => ({ tenant: 't', knownHead: HEAD, fromMs: 0, untilMs: MAX_EXACT, subjectFields: [], charges });

const entries = (count: number, firstMs: number, everyMs: number): string => Array.from({ length: count }, (_, at) => `${firstMs + at * everyMs}:${1 + (at % 3)}`).join('\n');

/** Logs and schedules as they are after a long life, a step of the clock, an edit, or a hand that wrote what it should not. */
const plantedIn = (windowMs: number): [RateCharge['kind'], string][] => {
  const alignedMs = START_MS - (START_MS % windowMs);
  return [
    ['log', `list\n500\n${entries(250, START_MS - windowMs - 125, 1)}`], ['log', `list\n500\n${entries(250, START_MS - 125, 1)}`], ['log', `list\n3\n${entries(30, START_MS - 15, 1)}`],
    ['log', `list\n40\n${entries(20, START_MS - windowMs + 1, 1)}`], ['log', `list\n9007199254740991\n${START_MS + 1}:9007199254740991\n${START_MS + 2}:1`], ['log', 'list\nx'], ['log', 'a string'],
    ['counter', `7:3:${alignedMs}`], ['counter', `${MAX_EXACT}:${MAX_EXACT}:${alignedMs}`], ['counter', `0:5:${alignedMs - windowMs}`], ['counter', `3:5:${alignedMs + windowMs}`], ['counter', `4:0:${alignedMs}`],
    ['queue', `${9 * windowMs}:${START_MS}:${START_MS + windowMs}:2:7`], ['queue', `0:${START_MS}:${START_MS + windowMs}:6:7`], ['queue', `0:${START_MS + windowMs}:${START_MS + 2 * windowMs}:0:3`],
    ['queue', `5:${START_MS}:${START_MS}:3:3`], ['queue', `${MAX_EXACT}:${START_MS}:${MAX_EXACT}:1:2`],
  ];
};

const stepOf = (windowMs: number): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ step: fc.constant('checks' as const), checks: fc.array(fc.array(rateOf(windowMs), { minLength: 1, maxLength: 3 }).map(checkOf), { minLength: 1, maxLength: 4 }) }) },
    { weight: 3, arbitrary: fc.record({ step: fc.constant('refund' as const), pick: fc.nat(20), share: fc.constantFrom(1, 1, 2) }) },
    { weight: 6, arbitrary: fc.record({ step: fc.constant('clock' as const), byMs: fc.oneof(fc.constantFrom(1, windowMs - 1, windowMs, windowMs + 1, 2 * windowMs, -1, -windowMs), fc.integer({ min: -5, max: windowMs })) }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...plantedIn(windowMs)).chain(([kind, value]) =>
        fc.record({ step: fc.constant('plant' as const), counter: fc.constant(counterOf(kind, windowMs)), value: fc.constant(value), lifeMs: fc.constantFrom(undefined, 30_000) })),
    },
  );

/** Histories of logs, counters and queues alone, dense where they are delicate: edges of a window, steps of the clock, edits, refunds. For specs. */
export const slidingHistories: fc.Arbitrary<Step[]> = fc.constantFrom(4, 7, 60, 1_000).chain((windowMs) => fc.array(stepOf(windowMs), { minLength: 1, maxLength: 40, size: 'max' }));
