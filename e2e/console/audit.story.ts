import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('the audit log shows who raised what, when, why, before and after, on a chain that verifies', async ({ page, control }) => {
  const { slug } = await control.tenant('audited', 'free');
  await page.goto(`/tenants/${slug}?raise=${slug}`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('per-minute limit, proposed', { exact: true }).fill('250');
  await dialog.getByLabel('Reason').fill('Their importer runs tonight');
  await dialog.getByLabel('Ticket').fill('SUP-77');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByRole('button', { name: `Apply to ${slug}` }).click();
  await expect(dialog.getByText(/^Live on/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(dialog).toBeHidden();

  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await expect(page.getByText('chain verified')).toBeVisible();
  await page.getByLabel('Tenant', { exact: true }).fill(slug);
  await expect(page).toHaveURL(new RegExp(`tenant=${slug}`));
  const entry = page.getByRole('region', { name: 'Audit entries' }).getByRole('listitem').filter({ hasText: 'Their importer runs tonight' });
  await expect(entry).toContainText('First operator');
  await expect(entry.getByRole('time')).toBeVisible();
  await entry.getByRole('button').click();
  const difference = entry.getByRole('table', { name: /Before and after/ });
  await expect(difference.getByRole('row').filter({ hasText: /per-minute · limit/ })).toContainText('250');
  await expect(entry).toContainText('SUP-77');
});
