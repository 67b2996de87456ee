import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a raise is listed among all overrides and reverted from there', async ({ page, control }) => {
  const { slug } = await control.tenant('listed', 'free');
  await page.goto(`/overrides?raise=${slug}`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('45');
  await dialog.getByLabel('Reason').fill('Seen from the list');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByRole('button', { name: `Apply to ${slug}` }).click();
  await expect(dialog.getByText(/^Live on/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const row = page.getByRole('row').filter({ hasText: slug });
  await expect(row).toContainText(/active, .* left/);
  await row.getByRole('button', { name: 'Revert' }).click();
  await page.getByLabel('Reason for reverting').fill('Enough seen');
  await page.getByRole('button', { name: 'Revert now' }).click();
  await expect(row).toHaveCount(0);
  await page.getByText('Reverted', { exact: true }).click();
  await expect(page).toHaveURL(/state=reverted/);
  await expect(row).toContainText('reverted');
});

test('lowering by "at least" is refused, and a typed form is not thrown away by Escape', async ({ page, control }) => {
  const { slug } = await control.tenant('lowered', 'free');
  await page.goto(`/tenants/${slug}?raise=${slug}`);
  const dialog = page.getByRole('dialog', { name: `Raise a limit of ${slug}` });
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText('Change at least one number')).toBeVisible();
  await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('10');
  await expect(dialog.getByText('Change at least one number')).toHaveCount(0);
  await dialog.getByLabel('Reason').fill('A slip');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText(/^Nothing would change/)).toBeVisible();
  await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('-5');
  await expect(dialog.getByText('Negative numbers are refused')).toBeVisible();

  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Throw away what you typed?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await expect(dialog.getByLabel('Reason')).toHaveValue('A slip');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Throw away' }).click();
  await expect(dialog).toBeHidden();
});
