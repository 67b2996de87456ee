import { describe, expect, it } from 'vitest';
import type { UsageItem } from '@quotaplane/contracts';
import { call, flood } from '../story/rig/http-call';
import { limitOf } from '../story/rig/limit-fields';
import { until } from '../story/rig/patience';
import { byStore, passed } from '../story/rig/story';
import { balanced, control, echo, nodeUrls, tenantOn } from './rig/fleet';
import { dayLimit } from './rig/limits';

describe.each([2, 4])('proof 4: what one node counts every node knows, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it('in the limit, in the quota and in the ledger, costs included', async () => {
    const quotas = [{ meter: 'requests', allowance: 100_000, overage: 'reject' as const, alertAt: [] }];
    const { slug, key } = await tenantOn('shared', { limits: [dayLimit('fixed-window', 5000)], quotas });
    const answers = await flood(300, 16, (index) => (index % 3 === 0 ? call(`${fleet.url}/search`, { key }) : echo(fleet.url, key)));
    expect(passed(byStore(answers))).toHaveLength(300);
    const used = 200 + 100 * 10;
    for (const url of nodeUrls.slice(0, nodes)) {
      const answer = await call(`${url}/bulk`, { method: 'POST', key, body: { items: [] } });
      expect(limitOf(answer, 'fixed-window').remaining).toBe(5000 - used);
      expect(limitOf(answer, 'month').remaining).toBeLessThanOrEqual(100_000 - used);
    }
    const item = await until<UsageItem>(`the ledger of ${slug}`, 10_000, async () => {
      const found = await control.usageOf(slug);
      return found?.used === String(used) && found;
    }, 100);
    expect(item.used).toBe(String(used));
  });
});
