import { journal, justEnded, meteredTier, report } from './rig/billing';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('an ended period is closed after a review; the statement shows its sum, its stores, its hash, and what came later', async ({ page, control }) => {
  const { settings, period, within } = justEnded();
  const { slug } = await control.tenant('stated', await meteredTier(control, 'stated', {}), settings);
  await journal(control, slug, period, { admitted: 1250, refunded: 50 });
  await page.goto(`/statements?tenant=${slug}`);
  const ended = page.getByRole('region', { name: 'Ended, not closed yet' });
  await expect(ended.getByRole('listitem').filter({ hasText: slug })).toContainText('requests 1,200', { timeout: 15_000 });
  await expect(page.getByText('No statement matches')).toBeVisible();
  await ended.getByRole('button', { name: `Close ${period} of ${slug}` }).click();
  const dialog = page.getByRole('dialog', { name: `Close a period of ${slug}` });
  await expect(dialog).toContainText('A closed statement never changes');
  await expect(dialog.getByRole('row').filter({ hasText: 'requests' })).toContainText(/1,200.*1,000.*200/);
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Close the period' }).click();

  await expect(page).toHaveURL(/\/statements\/[0-9a-f-]{36}$/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(slug);
  const sum = page.getByRole('table', { name: 'Usage of requests' });
  await expect(sum.getByRole('row').first()).toContainText('1,250');
  await expect(sum.getByRole('row').last()).toContainText('1,200');
  await expect(page.getByRole('region', { name: 'requests' })).toContainText(/Overage\s*200\s*Billable\s*200/);
  const stores = page.getByRole('table', { name: 'Reconciliation of requests' });
  await expect(stores.getByRole('row')).toContainText([/Ledger.*1,200.*what is billed/, /Journals/, /Counters/]);
  const chain = page.getByRole('region', { name: 'Hash chain' });
  await expect(chain).toContainText('The chain begins here');
  await expect(chain.getByRole('listitem').filter({ hasText: 'this one' })).toContainText(/[0-9a-f]{64}/);

  await report(control, slug, 75, within);
  await report(control, slug, -5, within);
  await page.reload();
  const adjustments = page.getByRole('region', { name: 'Adjustments' });
  await expect(adjustments.getByRole('listitem')).toContainText([/usage reported late.*\+ 75 units/, /correction.*− 5 units.*Counted twice/], { timeout: 30_000 });
  await expect(sum.getByRole('row').last()).toContainText('1,200');
  await expect(page.getByRole('table', { name: 'Totals with adjustments' })).toContainText(/\+ 70.*1,270.*270/);
  await expect(chain.getByRole('listitem').filter({ hasText: 'Adjustment 2' })).toContainText(/[0-9a-f]{64}/);
  await chain.getByRole('button', { name: 'Verify' }).click();
  await expect(chain.getByRole('status')).toContainText('Sound. 1 statement of 1 tenant recomputed');
});

test('statements are found by key, tenant and month, and stepped through along the chain', async ({ page }) => {
  await page.goto('/tenants');
  await expect(page.getByRole('heading', { name: 'Tenants', level: 1 })).toBeVisible();
  await expect(async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await expect(page.getByRole('heading', { name: 'Statements', level: 1 })).toBeVisible({ timeout: 2000 });
  }).toPass();
  await page.getByRole('textbox', { name: 'Tenant' }).fill('globex');
  await page.getByRole('button', { name: 'Filter' }).click();
  await expect(page).toHaveURL(/tenant=globex/);
  const rows = page.getByRole('table', { name: 'Statements' }).getByRole('row').filter({ hasText: 'globex' });
  await expect(rows.nth(1)).toBeVisible();
  await expect(rows.first()).toContainText(/stores agree|stores differ|nothing to compare/);
  await rows.first().getByRole('link', { name: 'globex' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/statement \d+/);
  const number = Number(/statement (\d+)/.exec((await page.getByRole('heading', { level: 1 }).textContent()) ?? '')?.[1]);
  await page.getByRole('link', { name: 'Statement before' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`statement ${number - 1}`);
  await page.goto('/statements?period=2001-01');
  await expect(page.getByText('No statement matches')).toBeVisible();
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect(page).not.toHaveURL(/period=/);
});
