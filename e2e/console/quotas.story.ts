import { journal, meteredTier, report, thisMonth } from './rig/billing';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('usage says what is left, at what pace, which thresholds were reached and what it is made of', async ({ page, control }) => {
  const { slug } = await control.tenant('measured', await meteredTier(control, 'measured', {}));
  await journal(control, slug, thisMonth(), { admitted: 880, refunded: 20 });
  await report(control, slug, 70, new Date().toISOString());
  await report(control, slug, -5, new Date().toISOString());
  await page.goto(`/usage?tenant=${slug}`);

  const card = page.getByRole('region', { name: 'Quota of requests' });
  await expect(card).toContainText('925 of 1,000 units', { timeout: 15_000 });
  await expect(card).toContainText(/75 units.*at this pace/);
  await expect(card).toContainText('UTC');
  await expect(card.getByRole('list', { name: 'Thresholds reached' })).toContainText(/50% reached.*80% reached/, { timeout: 15_000 });
  await expect(card).not.toContainText('100% reached');
  await card.getByText('What it is made of').click();
  const sum = card.getByRole('table', { name: `What ${slug} used of requests` });
  await expect(sum.getByRole('row')).toContainText([/guards.*880/, /Refunded.*− 20/, /away.*0/, /outside.*\+ 70/, /late.*0/, /Recovered.*0/, /Corrections.*− 5/, /Used.*925/]);

  // The same on demand in the table, for whoever compares tenants.
  const row = page.getByRole('row').filter({ hasText: slug });
  await row.getByRole('button', { name: `What ${slug} used of requests` }).click();
  await expect(page.getByRole('table', { name: 'Usage' }).getByRole('table', { name: `What ${slug} used of requests` })).toContainText('− 5');
});

test('the chart draws the units of the period against the allowance, in the tenant’s zone', async ({ page, scene, control }) => {
  const { slug, key } = await control.tenant('charted', await meteredTier(control, 'charted', {}), { timezone: 'Asia/Tokyo' });
  for (let sent = 0; sent < 12; sent += 1) await fetch(`${scene.echoUrls[0]}/echo`, { headers: { 'X-Api-Key': key } });
  await page.goto(`/usage?tenant=${slug}`);
  const panel = page.getByRole('region', { name: `${slug}, this period` });
  await expect(panel.getByRole('img', { name: /^Units of .* over the period that starts .* used of 1,000$/ })).toBeVisible({ timeout: 15_000 });
  await expect(panel).toContainText('Times in Asia/Tokyo');
  await expect(panel.getByText('Allowance', { exact: true }).last()).toBeVisible();
});

test('a tier’s quota gets a ceiling, a carry-over and thresholds, and a throttle its lane', async ({ page, control }) => {
  const tier = await meteredTier(control, 'shaped', { alertAt: [] });
  await page.goto(`/tiers/${tier}`);
  await page.getByRole('button', { name: 'More of quota 1' }).click();
  await page.getByLabel('Quota 1: ceiling').fill('500');
  await page.getByRole('button', { name: 'Review and save the draft' }).click();
  await expect(page.getByText('ceiling must be at least the allowance')).toBeVisible();
  await page.getByLabel('Quota 1: alert at').fill('half');
  await page.getByRole('button', { name: 'Review and save the draft' }).click();
  await expect(page.getByText('percent, such as 80, 100')).toBeVisible();
  await page.getByLabel('Quota 1: ceiling').fill('5000');
  await page.getByLabel('Quota 1: carry over at most').fill('250');
  await page.getByLabel('Quota 1: alert at').fill('75, 90%');
  await page.getByLabel('Quota 1: past it').selectOption('throttle');
  await page.getByLabel('Quota 1: slower limit').fill('30');
  await page.getByRole('button', { name: 'Review and save the draft' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  const inForce = page.getByRole('table', { name: 'Limits and quotas' }).getByRole('row').filter({ hasText: 'past it: throttle' });
  await expect(inForce).toContainText(/to 30 per min.*refused past 5,000.*carries up to 250 over.*alerts at 75, 90%/);
});
