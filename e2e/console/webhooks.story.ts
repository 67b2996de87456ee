import type { Page } from '@playwright/test';
import { meteredTier, report, startReceiver } from './rig/billing';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('an endpoint is added, told of a threshold, sent to again, rotated, disabled and deleted', async ({ page, control }) => {
  const receiver = await startReceiver();
  const { slug } = await control.tenant('noticed', await meteredTier(control, 'noticed', { alertAt: [80] }));
  await page.goto('/settings');
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('button', { name: 'Add endpoint' }).click();
  await expect(form.getByText('An address that begins with https:// or http://')).toBeVisible();
  await form.getByLabel('Address').fill(receiver.url);
  await form.getByLabel('Description').fill('Invoicing');
  for (const other of ['usage.period_closed', 'override.ending', 'tenant.limited']) await form.getByLabel(other).uncheck();
  await form.getByRole('textbox', { name: 'Tenant' }).fill(slug);
  await form.getByRole('button', { name: 'Add endpoint' }).click();
  await expect(page.getByTestId('secret')).toHaveText(/^whsec_/);
  await page.getByRole('button', { name: 'I have stored it' }).click();

  receiver.answerWith(500);
  await report(control, slug, 850, new Date().toISOString());
  await page.getByRole('link', { name: receiver.url.replace('http://', '') }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('active');
  const delivery = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: 'usage.threshold_reached' });
  await expect(delivery).toContainText(/failed.*500/, { timeout: 30_000 });
  await delivery.getByRole('button', { name: /^Attempts of/ }).click();
  await expect(page.getByLabel(/^Data of/)).toContainText(slug);
  receiver.answerWith(204);
  await delivery.getByRole('button', { name: /again$/ }).click();
  await expect(delivery).toContainText('delivered', { timeout: 15_000 });
  expect(new Set(receiver.heard)).toEqual(new Set(['usage.threshold_reached']));
  await page.getByText('Given up', { exact: true }).click();
  await expect(page.getByText('No such delivery')).toBeVisible();

  await change(page, 'Rotate the secret', 'Rotate');
  await expect(page.getByTestId('secret')).toHaveText(/^whsec_/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await expect(page.getByText('Former secret signs until')).toBeVisible();
  await change(page, 'Disable', 'Disable');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('disabled');
  await change(page, 'Enable', 'Enable');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('active');
  await change(page, 'Delete', 'Delete');
  await expect(page).toHaveURL(/\/settings$/);
  await expect(page.getByRole('link', { name: receiver.url.replace('http://', '') })).toHaveCount(0);
  await receiver.close();
});

/** Chosen in the menu, then confirmed. */
async function change(page: Page, item: string, action: string): Promise<void> {
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
}
