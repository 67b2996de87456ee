import type { TierPreview } from './tier-preview.service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuotaRig } from '../quotas/specs/quota-rig';

const DAY_MS = 86_400_000;
const APRIL = Date.UTC(2027, 3, 1);
const MAY = Date.UTC(2027, 4, 1);
const MID_APRIL = APRIL + 15 * DAY_MS;

let rig: QuotaRig;
beforeAll(async () => {
  rig = await QuotaRig.start(APRIL + DAY_MS);
  await rig.tier('small', { allowance: 100 }, { meter: 'tokens', allowance: 10 });
  await rig.tier('large', { allowance: 400 });
});
afterAll(() => rig?.stop());

const preview = async (slug: string, query: string): Promise<TierPreview> => {
  const answer = await rig.api.call('GET', `/v1/tenants/${slug}/tier/preview?tier=large${query}`);
  expect(answer.status).toBe(200);
  return answer.body as unknown as TierPreview;
};
const move = async (slug: string, body: object): Promise<void> => {
  const { body: { version = 0 } } = await rig.api.call('GET', `/v1/tenants/${slug}`);
  const answer = await rig.api.call('PUT', `/v1/tenants/${slug}/tier`, { ifMatch: version, body: { tier: 'large', reason: 'upgrade', ...body } });
  expect(answer.status).toBe(200);
  await rig.relay();
};

describe('a move in mid-period', () => {
  // Mutation: drop the first span of a prorated allowance; keep the count on restart; preview with the rows as they are.
  it.each([
    ['carry', { used: '60', allowance: '400', remaining: '340' }],
    ['prorate', { used: '60', allowance: '250', remaining: '190' }],
    ['restart', { used: '0', allowance: '400', remaining: '400' }],
  ] as const)('with %s gives what its preview showed, to the unit', async (usage, after) => {
    const slug = `now-${usage}`;
    rig.clock.set(APRIL + DAY_MS);
    await rig.tenant(slug, 'small');
    expect(await rig.call(slug, 60)).toBe(40);
    rig.clock.set(MID_APRIL);
    const shown = await preview(slug, `&usage=${usage}`);
    expect(shown).toMatchObject({ tenant: slug, from: 'small', to: 'large', usage, period: '2027-04-01', effectiveAt: new Date(MID_APRIL).toISOString() });
    expect(shown.meters).toEqual([
      { meter: 'requests', before: { used: '60', allowance: '100', remaining: '40' }, after },
      { meter: 'tokens', before: { used: '0', allowance: '10', remaining: '10' }, after: null },
    ]);
    await move(slug, { usage });
    expect((await rig.segment(slug)).part).toBe(usage === 'restart' ? 2 : 1);
    const left = Number(after.remaining);
    expect(await rig.call(slug, left + 1)).toBeNull();
    expect(await rig.call(slug, left)).toBe(0);
    const { body } = await rig.api.call('GET', `/v1/usage?tenant=${slug}&period=current`);
    expect(body.items?.find(({ meter }) => meter === 'requests')).toMatchObject({ used: String(60 + left), allowance: after.allowance, remaining: '0' });
  }, 60_000);

  // Mutation: take the tier of now for what is before a later move.
  it.each(['carry', 'prorate', 'restart'] as const)('with %s at an instant to come is enforced from that instant on, without a job', async (usage) => {
    const slug = `later-${usage}`;
    rig.clock.set(APRIL + DAY_MS);
    await rig.tenant(slug, 'small');
    await rig.call(slug, 100);
    const effectiveAt = new Date(MID_APRIL).toISOString();
    const shown = (await preview(slug, `&usage=${usage}&effectiveAt=${effectiveAt}`)).meters[0];
    expect(shown?.before).toEqual({ used: '100', allowance: '100', remaining: '0' });
    await move(slug, { usage, effectiveAt });
    rig.clock.set(MID_APRIL - 1);
    expect(await rig.call(slug, 1)).toBeNull();
    rig.clock.set(MID_APRIL);
    const left = Number(shown?.after?.remaining);
    expect(await rig.call(slug, left + 1)).toBeNull();
    expect(await rig.call(slug, left)).toBe(0);
  }, 60_000);

  // Mutation: count a restart at the period's end as a part of its own.
  it.each(['carry', 'prorate', 'restart'] as const)('with %s at the period\'s end begins the next period whole', async (usage) => {
    const slug = `end-${usage}`;
    rig.clock.set(MID_APRIL);
    await rig.tenant(slug, 'small');
    await rig.call(slug, 70);
    const shown = await preview(slug, `&usage=${usage}&effectiveAt=period-end`);
    expect([shown.period, shown.effectiveAt]).toEqual(['2027-05-01', new Date(MAY).toISOString()]);
    expect(shown.meters[0]).toEqual({ meter: 'requests', before: { used: '70', allowance: '100', remaining: '30' }, after: { used: '0', allowance: '400', remaining: '400' } });
    await move(slug, { usage, effectiveAt: 'period-end' });
    rig.clock.set(MAY);
    expect((await rig.segment(slug)).part).toBe(1);
    expect(await rig.call(slug, 400)).toBe(0);
  }, 60_000);

  it('carries when a tier is named in a PATCH, and points at what a preview cannot be made of', async () => {
    rig.clock.set(APRIL + DAY_MS);
    await rig.tenant('patched', 'small');
    await rig.call('patched', 60);
    expect((await rig.api.call('PATCH', '/v1/tenants/patched', { ifMatch: 1, body: { tier: 'large' } })).status).toBe(200);
    await rig.relay();
    expect(await rig.call('patched', 340)).toBe(0);
    const refused = async (query: string): Promise<unknown> => {
      const answer = await rig.api.call('GET', `/v1/tenants/patched/tier/preview?${query}`);
      return [answer.status, answer.body.errors?.map(({ pointer }) => pointer)];
    };
    expect(await refused('tier=gold')).toEqual([422, ['/query/tier']]);
    expect(await refused('tier=small&effectiveAt=2020-01-01T00:00:00Z')).toEqual([422, ['/query/effectiveAt']]);
    expect((await rig.api.call('GET', '/v1/tenants/nobody/tier/preview?tier=small')).status).toBe(404);
  }, 60_000);
});
