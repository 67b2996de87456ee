import { MAX_EXACT, type Alignment, type Overage } from '@quotaplane/contracts';
import fc from 'fast-check';
import type { Charge, Check, PenaltyRule, QuotaCharge, RateCharge, RetryCharge } from '../store';

/** One step of a random history. For specs. */
export type Step =
  | { readonly step: 'checks'; readonly checks: readonly Check[] }
  | { readonly step: 'refund'; readonly pick: number; readonly share: number }
  | { readonly step: 'clock'; readonly byMs: number }
  | { readonly step: 'plant'; readonly counter: string; readonly value: string | undefined; readonly lifeMs: number | undefined }
  | { readonly step: 'base'; readonly plus: number; readonly minus: number };

export const START_MS = 1_764_500_000_123;
export const HEAD = '7.1';
export const BASE = 'qp:{t}:b:requests:2026-12-01:1:1';

const WINDOWS_MS = [1, 7, 1_000, 60_000, 86_400_000];
const figure = (largest: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: Math.min(largest, 2_000) }) },
    { weight: 1, arbitrary: fc.integer({ min: Math.max(0, largest - 3), max: largest }) },
    { weight: 1, arbitrary: fc.constantFrom(Math.floor(largest / 2), Math.floor(largest / 3)) },
  );

const windowMs = fc.constantFrom(...WINDOWS_MS);

const bucket = windowMs.chain((ms) =>
  fc.record({
    kind: fc.constant('bucket' as const), counter: fc.constantFrom(`qp:{t}:c:b1:${ms}`, 'qp:{t}:c:b2'), limit: figure(MAX_EXACT), windowMs: fc.constant(ms),
    // Past floor(MAX / window) the capacity is held back, so that a debt stays exact.
    capacity: fc.oneof({ weight: 9, arbitrary: figure(Math.floor(MAX_EXACT / ms)) }, { weight: 1, arbitrary: figure(MAX_EXACT) }),
    cost: figure(Math.floor(MAX_EXACT / ms)),
  }));

const window = windowMs.chain((ms) =>
  fc.record({
    kind: fc.constant('window' as const), counter: fc.constantFrom(`qp:{t}:c:w1:${ms}`, 'qp:{t}:c:w2'), limit: figure(MAX_EXACT), windowMs: fc.constant(ms),
    alignment: fc.constantFrom<Alignment>('epoch', 'first-hit'), cost: figure(MAX_EXACT),
  }));

const counter = windowMs.chain((ms) =>
  fc.record({
    kind: fc.constant('counter' as const), counter: fc.constantFrom(`qp:{t}:c:s1:${ms}`, `qp:{t}:c:s2:${ms}`), limit: figure(MAX_EXACT), windowMs: fc.constant(ms),
    cost: figure(Math.floor(MAX_EXACT / ms)),
  }));

const LOG_LIMIT_MAX = 10_000;
const log = windowMs.chain((ms) =>
  fc.record({
    kind: fc.constant('log' as const), counter: fc.constantFrom(`qp:{t}:c:g1:${ms}`, `qp:{t}:c:g2:${ms}`), limit: figure(LOG_LIMIT_MAX), windowMs: fc.constant(ms),
    cost: figure(LOG_LIMIT_MAX),
  }));

const queue = windowMs.chain((ms) =>
  fc.record({
    kind: fc.constant('queue' as const), counter: fc.constantFrom(`qp:{t}:c:u1:${ms}`, `qp:{t}:c:u2:${ms}`), limit: figure(MAX_EXACT), windowMs: fc.constant(ms),
    capacity: fc.oneof({ weight: 9, arbitrary: figure(Math.floor(MAX_EXACT / ms)) }, { weight: 1, arbitrary: figure(MAX_EXACT) }),
    maxWaitMs: fc.constantFrom(0, 1, 500, 30_000, 86_400_000, MAX_EXACT), cost: figure(Math.floor(MAX_EXACT / ms)),
  }));

const lane = bucket.map((charge) => ({ ...charge, counter: 'qp:{t}:c:lane' }));

const quota: fc.Arbitrary<QuotaCharge> = fc
  .record({
    allowance: fc.option(figure(MAX_EXACT)), aboveAllowance: fc.option(figure(MAX_EXACT)), overage: fc.constantFrom<Overage>('reject', 'throttle', 'bill'),
    endsInMs: fc.constantFrom(-3_600_000, 0, 1, 5_000, 2_592_000_000, MAX_EXACT - START_MS), cost: figure(MAX_EXACT), lane,
  })
  .map(({ allowance, aboveAllowance, overage, endsInMs, cost, lane: charge }) => ({
    kind: 'quota', counter: 'qp:{t}:q:requests:2026-12-01:1:1', base: BASE, allowance, overage, periodEndMs: START_MS + endsInMs, cost,
    ...(aboveAllowance === null ? {} : { ceiling: Math.min(MAX_EXACT, (allowance ?? 0) + aboveAllowance) }),
    ...(overage === 'throttle' ? { lane: { ...charge, cost } } : {}),
  }));

const penalty: fc.Arbitrary<PenaltyRule> = fc.record({
  counter: fc.constant(''), strikes: fc.integer({ min: 1, max: 3 }), withinMs: fc.constantFrom(7, 1_000, 60_000), banMs: fc.constantFrom(1_000, 5_000),
  factor: fc.constantFrom(1, 2, 100), maxBanMs: fc.constantFrom(5_000, 2_592_000_000), forgiveAfterMs: fc.constantFrom(1_000, 60_000, 86_400_000),
});

const retry: fc.Arbitrary<RetryCharge> = fc.record({
  kind: fc.constant('retry' as const), counter: fc.constantFrom('qp:{t}:i:1', 'qp:{t}:i:2'), windowMs: fc.constantFrom(1_000, 60_000), max: fc.nat(3),
  repeatCost: fc.nat(2), cost: fc.constant(0 as const),
});

const rate: fc.Arbitrary<RateCharge> = fc
  .tuple(fc.oneof(bucket, window, counter, log, queue), fc.option(penalty, { freq: 3 }))
  .map(([charge, rule]) => (rule === null ? charge : { ...charge, penalty: rule }));
const charge: fc.Arbitrary<Charge> = fc.oneof({ weight: 3, arbitrary: rate }, { weight: 1, arbitrary: quota });

const check: fc.Arbitrary<Check> = fc.record({
  tenant: fc.constant('t'), knownHead: fc.constant(HEAD), fromMs: fc.constant(0), untilMs: fc.constantFrom(START_MS + 2_000_000_000, MAX_EXACT),
  subjectFields: fc.constant([]),
  charges: fc
    .tuple(fc.option(retry, { freq: 4 }), fc.array(charge, { minLength: 1, maxLength: 4 }))
    .map(([first, rest]): Charge[] => [...(first === null ? [] : [first]), ...rest]),
});

const COUNTERS = ['qp:{t}:c:b2', 'qp:{t}:c:w2', 'qp:{t}:c:lane', 'qp:{t}:q:requests:2026-12-01:1:1', 'qp:{t}:c:b1:1000', 'qp:{t}:c:w1:60000', 'qp:{t}:c:s1:1000', 'qp:{t}:c:s2:60000', 'qp:{t}:c:s1:7',
  'qp:{t}:c:g1:1000', 'qp:{t}:c:g2:60000', 'qp:{t}:c:g1:7', 'qp:{t}:c:u1:1000', 'qp:{t}:c:u2:60000', 'qp:{t}:p:0', 'qp:{t}:p:1', 'qp:{t}:i:1'];
/** More than one chunk, from long expired to ahead of the clock. */
const MANY_ENTRIES = ['list', 900, ...Array.from({ length: 300 }, (_, at) => `${START_MS - 80_000 + at * 400}:3`)].join('\n');
const planted = fc.constantFrom(
  undefined, '', 'x', '5', '3:', ':3', '1:2:3', '-5:3', '1e3:4', '0x10:1', 'nan:1', '9007199254740992:1', '99999999999999999:1', '007:5', '00000000000000005:1', '9007199254740990',
  '9007199254740991', `9007199254740991:${START_MS}`, `0:${START_MS + 5_000}`, `3:${START_MS + 600_000}`, `4:${START_MS}`, `40000:${START_MS - 7}`, '12:9007199254740991',
  `3:4:${START_MS}`, `3:4:${START_MS - (START_MS % 1_000)}`, `9007199254740991:9007199254740991:${START_MS + 600_000}`, `5:0:${START_MS - 70_000}`, '1:2:3:4',
  `5000:${START_MS}:${START_MS + 2_500}:1:2`, `5000:${START_MS + 9_000}:${START_MS + 12_500}:0:7`, `0:${START_MS}:${START_MS + 100}:3:3`, `7:${START_MS}:${START_MS}:0:0`,
  `9007199254740991:${START_MS}:9007199254740991:6:7`, `3:${START_MS}:5:1:4`,
  `2:${START_MS}:1:${START_MS + 3_000}:${START_MS - 2_000}`, `1:${START_MS + 9_000}:2:${START_MS + 90_000}:${START_MS + 80_000}`, `1:${START_MS}:9007199254740991:9007199254740991:5`,
  'list\na list where a string should be', 'list\n7', `list\n0\n${START_MS}:4`, `list\n9\n${START_MS - 500}:4\n${START_MS}:5`, `list\n40\n${START_MS - 500}:4\n${START_MS}:5`,
  `list\n9\nbad\n${START_MS - 3}:4\n${START_MS + 900_000}:5`, `list\n6\n${START_MS}:4\nx`, `list\n6\n${START_MS - 1}:1\n${START_MS + 5}:2\n${START_MS + 6}:3`, MANY_ENTRIES,
);

/** One policy is current while a batch is judged, so that its penalties have one rule; each place in a check has its own counter. */
const batch = fc.tuple(fc.array(check, { minLength: 1, maxLength: 4 }), penalty).map(([checks, rule]): Check[] =>
  checks.map((one) => ({
    ...one,
    charges: one.charges.map((charge, at) => ('penalty' in charge && charge.penalty !== undefined ? { ...charge, penalty: { ...rule, counter: `qp:{t}:p:${at}` } } : charge)),
  })));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ step: fc.constant('checks' as const), checks: batch }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('refund' as const), pick: fc.nat(20), share: fc.constantFrom(1, 1, 1, 2, 3) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      step: fc.constant('clock' as const), byMs: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...WINDOWS_MS, 0, 999, -1, -1_000, -600_000) },
        { weight: 1, arbitrary: fc.integer({ min: -5_000, max: 200_000 }) },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('plant' as const), counter: fc.constantFrom(...COUNTERS), value: planted, lifeMs: fc.constantFrom(undefined, 30_000, 90_000_000) }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('base' as const), plus: figure(MAX_EXACT), minus: figure(MAX_EXACT) }) },
);

export const histories: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 30 });

/** What judge-plain.lua can answer of a check; undefined where nothing is left. */
const plainPart = (one: Check): Check[] => {
  const charges: Charge[] = [];
  for (const each of one.charges) {
    const isKnown = charges.some(({ counter: name }) => name === each.counter);
    if (isKnown || (each.kind !== 'bucket' && each.kind !== 'window' && each.kind !== 'quota')) continue;
    const { penalty: _penalty, lane: _lane, ...bare } = { penalty: undefined, lane: undefined, ...each };
    charges.push(bare);
  }
  return charges.length === 0 ? [] : [{ ...one, charges }];
};

/** Histories of plain checks, many of them equal, as callers of one subject ask at once. */
export const plainHistories: fc.Arbitrary<Step[]> = fc.tuple(histories, fc.array(fc.nat(5), { minLength: 8, maxLength: 8 })).map(([steps, repeats]) =>
  steps.map((each): Step => {
    if (each.step !== 'checks') return each;
    const checks = each.checks.flatMap(plainPart);
    const repeated = repeats.flatMap((times, at) => Array.from({ length: times }, () => checks[at % Math.max(1, checks.length)])).filter((one) => one !== undefined);
    return { ...each, checks: [...checks, ...repeated] };
  }));
