import { callEcho } from './rig/echo-client';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('usage shows exactly the units that echo admitted, at most 5 s later', async ({ page, scene, control }) => {
  const { slug, key } = await control.tenant('billed', 'pro');
  await page.goto('/usage');
  const tally = await callEcho(scene.echoUrls, key, 87);
  expect(tally.admitted + tally.degraded).toBe(87);
  const admitted = String(tally.admitted);

  const row = page.getByRole('row').filter({ hasText: slug });
  // Five seconds for the ledger and as long for the page's own refresh.
  await expect(row.getByRole('cell', { name: admitted, exact: true })).toBeVisible({ timeout: 10_000 });

  await row.getByRole('link', { name: slug }).click();
  await expect(page.getByRole('region', { name: `${slug}, this period` })).toBeVisible();
  await page.goto(`/tenants/${slug}`);
  await expect(page.getByRole('region', { name: 'Quota, this period' })).toContainText(`${admitted} of 10,000,000 units`);
});

test('the CSV export carries the same figure', async ({ page, scene, control }) => {
  const { slug, key } = await control.tenant('exported', 'pro');
  const admitted = String((await callEcho(scene.echoUrls, key, 12)).admitted);
  await page.goto('/usage');
  await expect(page.getByRole('row').filter({ hasText: slug }).getByRole('cell', { name: admitted, exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(page.getByRole('menuitem', { name: /^NDJSON/ })).toHaveAttribute('href', /format=ndjson/);
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  const stream = await (await download).createReadStream();
  let csv = '';
  for await (const chunk of stream) csv += String(chunk);
  expect(csv.split('\n').find((line) => line.includes(slug))).toContain(`,${admitted},`);
});
