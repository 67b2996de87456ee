import { randomUUID } from 'node:crypto';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('usage says what was admitted while Redis was away, and what of it counts', async ({ page, scene, control }) => {
  const { slug } = await control.tenant('away', 'enterprise');
  const period = `${new Date().toISOString().slice(0, 8)}01`;
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString();
  // A node that had to exit during an outage posts its journal: the tier of this tenant bills what was admitted by itself.
  const posted = await fetch(`${scene.apiUrl}/v1/journals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      version: 1, incarnation: randomUUID(), service: 'story', sequence: 1, at: new Date().toISOString(), closed: true,
      counts: [{ tenant: slug, meter: 'requests', period, part: 1, class: 'search', generation: 1, admitted: 10, refunded: 0, degraded: 1_234, degradedByHour: [{ hour, units: 1_234 }] }],
    }),
  });
  expect([posted.status, await posted.json()]).toEqual([200, expect.objectContaining({ accepted: 1, refused: [] })]);

  await page.goto('/usage');
  const row = page.getByRole('table', { name: 'Usage' }).getByRole('row').filter({ hasText: slug });
  await expect(row).toContainText('1,234', { timeout: 15_000 });
  const outages = page.getByRole('region', { name: 'Admitted while Redis was away' });
  await expect(outages.getByRole('row').filter({ hasText: slug })).toContainText('search');
  await expect(outages.getByRole('row').filter({ hasText: slug })).toContainText(/bill: all count|waive: none counts|cap: up to the allowance/);
  expect((await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze()).violations).toEqual([]);
});
