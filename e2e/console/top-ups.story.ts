import { journal, meteredTier, thisMonth } from './rig/billing';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('more is granted from the palette after a review, is live on every node, and is withdrawn with a reason', async ({ page, control }) => {
  const { slug } = await control.tenant('granted', await meteredTier(control, 'granted', { overage: 'reject' }));
  await journal(control, slug, thisMonth(), { admitted: 950 });
  await page.goto(`/tenants/${slug}`);
  await expect(page.getByRole('region', { name: 'Quota of requests' })).toContainText('950 of 1,000 units', { timeout: 15_000 });
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/Find a tenant or tier/).fill(`grant ${slug}`);
  await page.getByRole('button', { name: `Grant more to ${slug}` }).click();

  const dialog = page.getByRole('dialog', { name: `Grant more to ${slug}` });
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText('Enter 1 or more whole units')).toBeVisible();
  await dialog.getByLabel('Units to grant').fill('500');
  await dialog.getByLabel('Reason').fill('Launch week, agreed with sales');
  await dialog.getByLabel('Ticket').fill('SUP-4711');
  await expect(dialog.getByText('50 left').first()).toBeVisible();
  await expect(dialog.getByText('550 left')).toBeVisible();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('heading', { name: `Review: ${slug} will get 500 more units of requests` })).toBeFocused();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: `Grant to ${slug}` }).click();
  await expect(dialog.getByText(/^Live on 2 of 2 nodes/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();

  await expect(page.getByRole('region', { name: 'Quota of requests' })).toContainText('of it 500 granted', { timeout: 15_000 });
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('+ 500');
  const topUps = page.getByRole('region', { name: 'Top-ups' });
  const item = topUps.getByRole('listitem').filter({ hasText: 'Launch week' });
  await expect(item).toContainText(/active, .* left/);
  await expect(item).toContainText('SUP-4711');
  await item.getByRole('button', { name: 'Withdraw the top-up of 500 requests' }).click();
  await page.getByLabel('Reason for withdrawing').fill('Wrong tenant');
  await page.getByRole('button', { name: 'Withdraw now' }).click();
  await expect(item).toContainText('withdrawn');
  await expect(item).toContainText('500 taken back');
  await expect(page.getByRole('region', { name: 'Quota of requests' })).toContainText('950 of 1,000 units', { timeout: 15_000 });
});

test('a grant ends with the period unless another end is chosen, and a tenant without an allowance is told so', async ({ page, control }) => {
  const { slug } = await control.tenant('lapsing', await meteredTier(control, 'lapsing', {}));
  await page.goto(`/tenants/${slug}?grant=${slug}`);
  const dialog = page.getByRole('dialog', { name: `Grant more to ${slug}` });
  await expect(dialog.getByText(/^What is left lapses at 1 /)).toBeVisible();
  await dialog.getByText('When it is spent').click();
  await expect(dialog.getByText(/goes on into later periods/)).toBeVisible();
  await dialog.getByText('Start and order').click();
  await expect(dialog.getByLabel('Priority')).toHaveValue('100');

  const free = await control.tenant('boundless', await meteredTier(control, 'boundless', { allowance: null, alertAt: [] }));
  await page.goto(`/tenants/${free.slug}?grant=${free.slug}`);
  await expect(page.getByRole('dialog')).toContainText('No allowance to add to');
});
