import { callEcho } from './rig/echo-client';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a key is created, shown once, works on echo, and stops working when revoked', async ({ page, scene, control }) => {
  const { slug } = await control.tenant('keyed', 'free');
  await page.goto(`/tenants/${slug}`);
  const keys = page.getByRole('region', { name: 'API keys' });
  await keys.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('from the console');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const secret = await page.getByTestId('secret').innerText();
  expect(secret).toMatch(/^qpk_/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await expect(page.getByText(/Live on 2 of 2 nodes/)).toBeVisible();
  expect((await callEcho(scene.echoUrls, secret, 4)).denied).toBe(0);

  await keys.getByRole('button', { name: 'Revoke the key from the console' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
  await expect(keys.getByRole('listitem').filter({ hasText: 'from the console' })).toContainText('revoked');
  await expect.poll(async () => (await fetch(`${scene.echoUrls[1]}/echo`, { headers: { 'X-Api-Key': secret } })).status).toBe(401);
});

test('a tier is changed as a form, reviewed, published, and its tenants get it', async ({ page, control }) => {
  const tier = await control.tier('published', {
    limits: [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 90, windowMs: 60_000, burst: 9, mode: 'enforce' }],
  });
  const { slug } = await control.tenant('follower', tier);
  await page.goto(`/tiers/${tier}`);
  await page.getByLabel('Limit 1: units', { exact: true }).fill('120');
  await page.getByLabel('Limit 1: window').fill('2m');
  await page.getByRole('button', { name: 'Review and save the draft' }).click();
  const review = page.getByRole('dialog');
  await expect(review.getByRole('row').filter({ hasText: 'limit' }).first()).toContainText(/90.*120/);
  await review.getByRole('button', { name: 'Save draft' }).click();
  await expect(page.getByRole('button', { name: 'Publish' })).toBeEnabled();
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByRole('dialog')).toContainText('This reaches 1 tenant');
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByText('version 2 in force')).toBeVisible();
  await page.goto(`/tenants/${slug}`);
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('120 per 2 min');
});

test('a tier and an endpoint class are created in the console, and the class is changed after a review', async ({ page }) => {
  const suffix = Date.now().toString(36);
  await page.goto('/tiers');
  await page.getByRole('button', { name: 'New tier' }).click();
  await page.getByLabel('Slug').fill(`made-${suffix}`);
  await page.getByLabel('Name').fill('Made here');
  await page.getByRole('dialog').getByRole('button', { name: 'Create tier' }).click();
  await expect(page.getByRole('heading', { name: 'Made here', level: 1 })).toBeVisible();
  await expect(page.getByText('never published')).toBeVisible();

  await page.goto('/endpoint-classes');
  await page.getByRole('button', { name: 'New class' }).click();
  await page.getByLabel('Slug').fill(`export-${suffix}`);
  await page.getByLabel('Cost, units').fill('25');
  await page.getByRole('dialog').getByRole('button', { name: 'Create class' }).click();
  const row = page.getByRole('row').filter({ hasText: `export-${suffix}` });
  await expect(row.getByRole('cell', { name: '25', exact: true })).toBeVisible();
  await row.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Cost, units').fill('50');
  await page.getByRole('dialog').getByRole('button', { name: 'Review' }).click();
  await expect(page.getByRole('dialog').getByRole('row').filter({ hasText: 'cost' })).toContainText(/25.*50/);
  await page.getByRole('dialog').getByRole('button', { name: 'Change class' }).click();
  await expect(row.getByRole('cell', { name: '50', exact: true })).toBeVisible();
});

test('filters of the tenant list live in the URL and survive a reload', async ({ page }) => {
  await page.goto('/tenants');
  await page.getByRole('button', { name: 'Month used' }).click();
  await expect(page).toHaveURL(/sort=-monthUsed/);
  await page.getByRole('combobox', { name: 'Tier' }).click();
  await page.getByRole('option', { name: 'Pro' }).click();
  await expect(page).toHaveURL(/tier=pro/);
  await page.reload();
  await expect(page.getByRole('combobox', { name: 'Tier' })).toHaveValue('Pro');
  await expect(page.getByRole('row').filter({ hasText: 'hobby' })).toHaveCount(0);
  await expect(page.getByRole('columnheader', { name: 'Month used' })).toHaveAttribute('aria-sort', 'descending');
});
