import { expect, it } from 'vitest';
import { quotaSchema, tierContentSchema } from '@quotaplane/contracts';
import { draftResolver, toDraftValues } from './draft-values';
import { quotaTags, toQuota, toQuotaDraft, type QuotaDraft } from './quota-values';

const THROTTLED = quotaSchema.parse({
  meter: 'requests', allowance: 1000, overage: 'throttle', throttle: { limit: 5, windowMs: 60_000 }, ceiling: 20_000, carry: { cap: 500 }, alertAt: [80, 100],
});
const CONTENT = tierContentSchema.parse({ limits: [], quotas: [THROTTLED] });
const FIELDS = { fields: {}, shouldUseNativeValidation: false };

it('changes nothing when nothing is typed', () => {
  expect(quotaSchema.parse(toQuota(toQuotaDraft(THROTTLED)))).toEqual(THROTTLED);
});

it('drops the ceiling and the lane of a quota that rejects', () => {
  expect(quotaSchema.parse(toQuota({ ...toQuotaDraft(THROTTLED), overage: 'reject' }))).toEqual({
    meter: 'requests', allowance: 1000, overage: 'reject', carry: { cap: 500 }, alertAt: [80, 100],
  });
});

it('reads thresholds as people write them, and none as none', () => {
  const draft = toQuotaDraft(THROTTLED);
  expect(toQuota({ ...draft, alertAt: '50% 80;100' })).toMatchObject({ alertAt: [50, 80, 100] });
  expect(toQuota({ ...draft, alertAt: ' ' })).toMatchObject({ alertAt: [] });
});

it.each<[Partial<QuotaDraft>, object]>([
  [{ alertAt: 'often' }, { alertAt: { message: 'percent, such as 80, 100' } }],
  [{ alertAt: '80, 80' }, { alertAt: { message: 'names a threshold twice' } }],
  [{ alertAt: '1001' }, { alertAt: { message: 'at most 1,000' } }],
  [{ carry: 'all' }, { carry: { message: 'whole units' } }],
  [{ ceiling: '999' }, { ceiling: { message: 'ceiling must be at least the allowance' } }],
])('says at the field what is wrong with %j', async (more, expected) => {
  const values = toDraftValues(CONTENT);
  const first = values.quotas[0];
  if (first) values.quotas[0] = { ...first, ...more };
  expect((await draftResolver(CONTENT)(values, undefined, FIELDS)).errors).toMatchObject({ quotas: [expected] });
});

it('tells what its row does not show', () => {
  expect(quotaTags(toQuotaDraft(THROTTLED))).toEqual(['refused past 20,000', 'carries up to 500 over', 'alerts at 80, 100%']);
});
