import { journal, meteredTier, thisMonth } from './rig/billing';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a tier change shows used, allowance and what is left before it is applied, for each way to treat the usage', async ({ page, control }) => {
  const [small, large] = [await meteredTier(control, 'small', {}), await meteredTier(control, 'large', { allowance: 5000 })];
  const { slug } = await control.tenant('mover', small);
  await journal(control, slug, thisMonth(), { admitted: 600 });
  await page.goto(`/tenants/${slug}`);
  await expect(page.getByRole('region', { name: 'Quota of requests' })).toContainText('600 of 1,000 units', { timeout: 15_000 });
  await page.getByRole('button', { name: 'Change tier' }).click();
  const dialog = page.getByRole('dialog', { name: `Change the tier of ${slug}` });
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText('It has this tier now')).toBeVisible();
  await dialog.getByRole('combobox', { name: 'Tier' }).click();
  await page.getByRole('option', { name: 'Story large' }).last().click();

  const figures = dialog.getByRole('table', { name: 'Quotas before and after' }).getByRole('row').filter({ hasText: 'requests' });
  await expect(figures).toContainText(/1,000\s*5,000/);
  await expect(figures).toContainText(/400\s*4,400/);
  await dialog.getByText('Restart', { exact: true }).click();
  await expect(figures).toContainText(/400\s*5,000/);
  await dialog.getByText('At…', { exact: true }).click();
  await dialog.getByLabel('Reason').fill('They upgraded');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText('Choose a date and a time')).toBeVisible();
  await dialog.getByText('Now', { exact: true }).click();
  await dialog.getByText('Carry on', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('heading', { name: `Review: ${slug} goes from ${small} to ${large}` })).toBeFocused();
  await expect(figures).toContainText(/400\s*4,400/);
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText(/^Live on 2 of 2 nodes/)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Quota of requests' })).toContainText('600 of 5,000 units', { timeout: 15_000 });
});

test('a change of zone and first day says when it takes effect and which period leads over', async ({ page, control }) => {
  const { slug } = await control.tenant('relocated', await meteredTier(control, 'relocated', {}));
  await page.goto(`/tenants/${slug}`);
  await page.getByRole('button', { name: 'Change calendar' }).click();
  const dialog = page.getByRole('dialog', { name: `Change the billing calendar of ${slug}` });
  await dialog.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Tokyo');
  await page.getByRole('option', { name: 'Asia/Tokyo' }).click();
  await dialog.getByLabel('Period starts on day').fill('15');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('heading', { name: `Review: periods of ${slug} will start on day 15 in Asia/Tokyo` })).toBeFocused();
  await expect(dialog).toContainText(/Takes effect\s*1 .* 00:00 UTC/);
  await dialog.getByRole('button', { name: 'Change calendar' }).click();
  await expect(dialog).toBeHidden();
  const notice = page.getByText(/^The billing calendar changes/);
  await expect(notice.locator('..')).toContainText(/from day 1 in UTC to day 15 in Asia\/Tokyo when the running period ends/);
  await expect(notice.locator('..')).toContainText(/A transition period then runs from .* 09:00 GMT\+9 to 15 .* 00:00 GMT\+9, with the full allowance/);
});
