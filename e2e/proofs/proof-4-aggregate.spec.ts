import { describe, expect, it } from 'vitest';
import type { UsageItem } from '@quotaplane/contracts';
import { call, flood } from '../story/rig/http-call';
import { limitOf } from '../story/rig/limit-fields';
import { until } from '../story/rig/patience';
import { byStore, passed } from '../story/rig/story';
import { balanced, control, echo, nodeUrls, tenantOn } from './rig/fleet';
import { dayLimit } from './rig/limits';

/** Every third call is a search, which costs ten. */
const costOf = (index: number): number => (index % 3 === 0 ? 10 : 1);

describe.each([2, 4])('proof 4: what one node counts every node knows, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it('in the limit, in the quota and in the ledger, costs included', async () => {
    const quotas = [{ meter: 'requests', allowance: 100_000, overage: 'reject' as const, alertAt: [] }];
    const { slug, key } = await tenantOn('shared', { limits: [dayLimit('fixed-window', 5000)], quotas });
    const answers = await flood(300, 16, (index) => (costOf(index) === 10 ? call(`${fleet.url}/search`, { key }) : echo(fleet.url, key)));
    expect(passed(answers)).toHaveLength(300);
    // A busy machine may make a node decide alone: the counters know nothing of that, and the ledger has it as degraded.
    const used = answers.reduce((sum, answer, index) => sum + (byStore([answer]).length === 1 ? costOf(index) : 0), 0);
    for (const url of nodeUrls.slice(0, nodes)) {
      const answer = await call(`${url}/bulk`, { method: 'POST', key, body: { items: [] } });
      expect(limitOf(answer, 'fixed-window').remaining).toBe(5000 - used);
      expect(limitOf(answer, 'month').remaining).toBeLessThanOrEqual(100_000 - used);
    }
    await until<UsageItem>(`the ledger of ${slug} at ${used}`, 10_000, async () => {
      const found = await control.usageOf(slug);
      return found?.breakdown.admitted === String(used) && found;
    }, 100);
  });
});
