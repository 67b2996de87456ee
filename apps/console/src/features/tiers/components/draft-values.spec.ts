import { expect, it } from 'vitest';
import { tierContentSchema } from '@quotaplane/contracts';
import { draftFieldOf, draftResolver, groupUnits, toContent, toDraftValues } from './draft-values';
import { unitsOf, type LimitDraft } from './limit-values';

const CONTENT = tierContentSchema.parse({
  limits: [
    { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 1000, windowMs: 60_000, burst: 100 },
    {
      name: 'login',
      algorithm: 'fixed-window',
      scope: 'ip',
      limit: 20,
      windowMs: 900_000,
      endpointClass: 'login',
      alignment: 'epoch',
      methods: ['POST'],
    },
  ],
  concurrency: null,
  quotas: [{ meter: 'requests', allowance: null, overage: 'throttle', throttle: { limit: 100, windowMs: 60_000 }, alertAt: [80, 100] }],
});

it('changes nothing when nothing is typed, not even what the form does not show', () => {
  expect(tierContentSchema.parse(toContent(toDraftValues(CONTENT), CONTENT))).toEqual(CONTENT);
});

it('reads units as people write them and refuses the rest', () => {
  expect([unitsOf('1,000'), unitsOf('unlimited'), unitsOf('1_000')]).toEqual([1000, null, 1000]);
  expect([unitsOf(''), unitsOf('1.5'), unitsOf('-1'), unitsOf('1e3')]).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
});

it('drops a burst that a window cannot have', () => {
  const values = toDraftValues(CONTENT);
  const first = values.limits[0];
  if (first) values.limits[0] = { ...first, algorithm: 'fixed-window' };
  expect(toContent(values, CONTENT)).toMatchObject({ limits: [expect.not.objectContaining({ burst: expect.anything() }), {}] });
});

it('keeps every field of every algorithm, and leaves out what another algorithm has', () => {
  const everything = tierContentSchema.parse({
    limits: [
      { name: 'queue', algorithm: 'leaky-bucket', scope: 'key', limit: 10, windowMs: 1000, maxQueue: 50, maxWaitMs: 0, methods: ['POST', 'PUT'], perRoute: true },
      { name: 'hits', algorithm: 'fixed-window', scope: 'user', limit: 10, windowMs: 1000, alignment: 'first-hit', mode: 'shadow' },
      { name: 'log', algorithm: 'sliding-log', scope: 'ip', limit: 10, windowMs: 1000, penalty: { strikes: 5, withinMs: 60_000, banMs: 90_000 } },
      { name: 'counter', algorithm: 'sliding-counter', scope: 'subject:account', limit: 10, windowMs: 1000 },
    ],
    quotas: [],
  });
  const values = toDraftValues(everything);
  expect(tierContentSchema.parse(toContent(values, everything))).toEqual(everything);
  const [queue] = values.limits;
  if (queue) values.limits[0] = { ...queue, algorithm: 'fixed-window' };
  expect(tierContentSchema.parse(toContent(values, everything)).limits[0]).toEqual({
    name: 'queue', algorithm: 'fixed-window', scope: 'key', limit: 10, windowMs: 1000, methods: ['POST', 'PUT'], perRoute: true, mode: 'enforce',
  });
});

it.each<[Partial<LimitDraft>, object]>([
  [{ algorithm: 'sliding-log', burst: '', limit: '10,001' }, { limit: { message: expect.stringContaining('at most 10000') } }],
  [{ algorithm: 'leaky-bucket', maxWait: '2m' }, { maxWait: { message: 'at most 1m' } }],
  [{ algorithm: 'leaky-bucket', maxQueue: 'many' }, { maxQueue: { message: 'whole units or unlimited' } }],
  [{ hasPenalty: true, mode: 'shadow' }, { penalty: { message: expect.stringContaining('never denies') } }],
])('says at the field what is wrong with %j', async (more, expected) => {
  const values = toDraftValues(CONTENT);
  const first = values.limits[0];
  if (first) values.limits[0] = { ...first, ...more };
  const { errors } = await draftResolver(CONTENT)(values, undefined, { fields: {}, shouldUseNativeValidation: false });
  expect(errors).toMatchObject({ limits: [expected] });
});

it('says at a field of the penalty what is wrong with it', async () => {
  const values = toDraftValues(CONTENT);
  const first = values.limits[0];
  if (first) values.limits[0] = { ...first, hasPenalty: true, penalty: { ...first.penalty, ban: '10ms', within: 'soon', maxBan: '1m' } };
  const { errors } = await draftResolver(CONTENT)(values, undefined, { fields: {}, shouldUseNativeValidation: false });
  expect(errors).toMatchObject({ limits: [{ penalty: { ban: { message: 'at least 1s' }, within: { message: 'such as 1m, 30s, 1h' } } }] });
});

it('puts the contract’s refusal onto the field that was typed', async () => {
  const values = toDraftValues(CONTENT);
  const first = values.limits[0];
  if (first) values.limits[0] = { ...first, window: 'soon' };
  const answer = await draftResolver(CONTENT)(values, undefined, { fields: {}, shouldUseNativeValidation: false });
  expect(answer.errors).toMatchObject({ limits: [{ window: { message: 'such as 1m, 30s, 1h' } }] });
});

it('names form fields by the places of the content', () => {
  expect(draftFieldOf(['quotas', 0, 'throttle', 'windowMs'])).toBe('quotas.0.throttleWindow');
  expect(draftFieldOf(['limits', 1, 'windowMs'])).toBe('limits.1.window');
});

it('groups figures as they are left, and leaves alone what is none', () => {
  expect(groupUnits('1000000')).toBe('1,000,000');
  expect(groupUnits('1,0000')).toBe('10,000');
  expect(groupUnits('unlimited')).toBe('unlimited');
  expect(groupUnits('-5')).toBe('-5');
  expect(groupUnits('')).toBe('');
});
