import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a range is denied after a review, listed with its end, and lifted with a reason', async ({ page, control }) => {
  const { slug } = await control.tenant('shut', 'free');
  await page.goto('/lists');
  await page.getByRole('button', { name: 'New entry' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Deny', { exact: true }).click();
  await dialog.getByRole('textbox', { name: 'Address or range' }).fill('198.51.100.77/24');
  await dialog.getByRole('textbox', { name: 'Tenant' }).fill(slug);
  await dialog.getByLabel('Reason').fill('Scans our sign-in');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('heading', { name: `Review: deny address 198.51.100.0/24 of ${slug}` })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Deny now' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Deny now' }).click();
  await expect(page.getByText(/Live on 2 of 2 nodes/)).toBeVisible();

  await page.getByText('Deny list', { exact: true }).click();
  await expect(page).toHaveURL(/list=deny/);
  const row = page.getByRole('row').filter({ hasText: slug });
  await expect(row).toContainText(/runs, .* left/);
  await row.getByRole('button', { name: 'Lift' }).click();
  await page.getByLabel('Reason for lifting it').fill('They stopped');
  await page.getByRole('button', { name: 'Lift now' }).click();
  await expect(row).toHaveCount(0);
  await page.getByText('Lifted', { exact: true }).first().click();
  await expect(row).toContainText('lifted by');
});

test('a penalty is set from the palette, by a link that anyone can follow', async ({ page, control }) => {
  const { slug } = await control.tenant('loud', 'free');
  await page.goto('/nodes');
  await expect(page.getByRole('heading', { name: 'Nodes', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/Find a tenant or tier/).fill('penalise');
  await page.getByRole('button', { name: 'Penalise a caller' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('User', { exact: true }).click();
  await dialog.getByRole('textbox', { name: 'User' }).fill('ann');
  await dialog.getByRole('textbox', { name: 'Tenant' }).fill(slug);
  await dialog.getByLabel('Reason').fill('Retries without waiting');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByRole('button', { name: 'Penalise now' }).click();
  await expect(dialog).toBeHidden();
  await page.goto('/lists');
  await expect(page.getByRole('row').filter({ hasText: slug })).toContainText('ann');
});

test('a raise for one user names only the limits that count users', async ({ page, control }) => {
  const tier = await control.tier('layered', {
    limits: [
      { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 90, windowMs: 60_000, burst: 9, mode: 'enforce' },
      { name: 'per-user', algorithm: 'fixed-window', scope: 'user', limit: 10, windowMs: 60_000, mode: 'enforce' },
    ],
  });
  const { slug } = await control.tenant('several', tier);
  await page.goto(`/tenants/${slug}?raise=${slug}`);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('One user', { exact: true }).click();
  await expect(dialog.getByLabel('per-minute limit, proposed')).toHaveCount(0);
  await dialog.getByRole('textbox', { name: 'User', exact: true }).fill('ann');
  await dialog.getByLabel('per-user limit, proposed', { exact: true }).fill('40');
  await dialog.getByLabel('Reason').fill('Runs the migration');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('heading', { name: `Review: user ann of ${slug} will get` })).toBeVisible();
  await dialog.getByRole('button', { name: `Apply to ${slug}` }).click();
  await expect(dialog.getByText(/^Live on/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('1 user has numbers of their own')).toBeVisible();
});

test('a changed algorithm says that counts begin anew, and a shadow limit that it denies nobody', async ({ page, control }) => {
  const tier = await control.tier('anew', {
    limits: [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 90, windowMs: 60_000, mode: 'enforce' }],
  });
  await page.goto(`/tiers/${tier}`);
  await page.getByLabel('Limit 1: algorithm').selectOption('leaky-bucket');
  await page.getByRole('button', { name: 'More of limit 1' }).click();
  await page.getByLabel('Limit 1: longest wait').fill('5s');
  await page.getByLabel('Limit 1: may wait, units').fill('50');
  await page.getByLabel('Limit 1: mode').selectOption('shadow');
  await page.getByRole('button', { name: 'Review and save the draft' }).click();
  await expect(page.getByRole('dialog').getByRole('row').filter({ hasText: 'algorithm' })).toContainText('new counter');
  await page.getByRole('dialog').getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByRole('dialog')).toContainText('every tenant’s count begins anew');
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByRole('table', { name: 'Limits and quotas' })).toContainText('shadow, denies nobody');
  await expect(page.getByRole('table', { name: 'Limits and quotas' })).toContainText('50 may wait');
});
