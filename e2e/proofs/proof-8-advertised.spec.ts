import { describe, expect, it } from 'vitest';
import { call, flood, headerOf } from '../story/rig/http-call';
import { limitItems, limitOf } from '../story/rig/limit-fields';
import { until } from '../story/rig/patience';
import { expectPasses, isMachineCalm, passed } from '../story/rig/story';
import { balanced, control, echo, tenantOn } from './rig/fleet';
import { dayLimit } from './rig/limits';

interface PublicLimits {
  readonly tiers: readonly {
    readonly slug: string;
    readonly limits: readonly { readonly name: string; readonly limit: number; readonly windowMs: number; readonly burst?: number | null }[];
  }[];
}

describe.each([2, 4])('proof 8: what is advertised is what is enforced, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it('in /limits.json, in the fields, and in the count', async () => {
    const { key, tier } = await tenantOn('told', { limits: [{ ...dayLimit('token-bucket', 90), burst: 60 }, { ...dayLimit('fixed-window', 40), name: 'searches', endpointClass: 'search' }] });
    // The page may be a few seconds old; it says so in its max-age.
    const limits = await until(`tier ${tier} on /limits.json`, 20_000, async () =>
      (JSON.parse((await call(`${control.url}/limits.json`)).body) as PublicLimits).tiers.find(({ slug }) => slug === tier)?.limits, 200);
    const bucket = limits.find(({ name }) => name === 'token-bucket');
    const searches = limits.find(({ name }) => name === 'searches');
    expect([bucket?.limit, bucket?.burst, searches?.limit]).toEqual([90, 60, 40]);

    const first = await echo(fleet.url, key);
    const item = limitItems(first, 'RateLimit-Policy').find(({ name }) => name === 'token-bucket');
    expect([item?.parameters.get('q'), item?.parameters.get('qp-burst'), item?.parameters.get('w')]).toEqual([bucket?.limit, bucket?.burst, (bucket?.windowMs ?? 0) / 1000]);
    expect(limitOf(first, 'token-bucket').remaining).toBe((bucket?.burst ?? 0) - 1);

    // Four searches of ten units are all that the class lets through; they also count in the bucket.
    const found = await flood(10, 10, () => call(`${fleet.url}/search`, { key }));
    expect(passed(found)).toHaveLength((searches?.limit ?? 0) / 10);
    const isCalm = await isMachineCalm();
    const rest = (bucket?.burst ?? 0) - 1 - (searches?.limit ?? 0);
    expectPasses(await flood(80, 80, () => echo(fleet.url, key)), { least: rest, most: rest }, isCalm);
  });

  it('and the page that people read names the same tier', async () => {
    const page = await call(`${control.url}/limits`);
    expect([page.status, headerOf(page, 'Content-Type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    expect(page.body).toContain('per-minute');
  });
});
