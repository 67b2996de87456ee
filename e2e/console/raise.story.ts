import { burstOf, callEcho } from './rig/echo-client';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();
test.use({ storageState: { cookies: [], origins: [] } });

const KEY = 'demo-hobby';
const REFILL_PER_MS = 100 / 60_000;
/** Long enough for the burst to be tried, short enough to be waited for. */
const LASTS_MS = 15_000;

test('an operator signs in, raises the burst of hobby to 60, sees it live on both nodes, and it ends by itself', async ({ page, scene }) => {
  await page.goto('/tenants');
  await page.getByLabel('Email').fill(scene.admin.email);
  await page.getByLabel('Password', { exact: true }).fill(scene.admin.password);
  await page.getByRole('button', { name: 'Sign in' }).click();

  // Signing in leads on to the page that was asked for.
  await expect(page.getByRole('heading', { name: 'Tenants', level: 1 })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type('hobby');
  await expect(page).toHaveURL(/q=hobby/);
  await page.getByRole('link', { name: 'hobby', exact: true }).click();
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('20 at once');
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('tier:free@1');

  await page.getByRole('link', { name: 'Raise a limit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Raise a limit of hobby' });
  await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('60');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByText('Say why, in 3 to 500 characters')).toBeVisible();

  await dialog.getByLabel('Reason').fill('Launch day, agreed with their CTO');
  await dialog.getByText('At…').click();
  const endsAt = new Date(Date.now() + LASTS_MS);
  await dialog.getByLabel('Ends at (Europe/Berlin)').fill(berlinClock(endsAt));
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('listitem')).toContainText(/per-minute burst\s*20\s*at least 60/);

  // A finger that rests on Enter from the form must not apply it.
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Apply to hobby' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Apply to hobby' }).click();
  await expect(dialog.getByText(/^Live on 2 of 2 nodes after \d+ ms$/)).toBeVisible();

  // Full at the raise: sixty pass at once, plus what flows back in meanwhile.
  const tally = await callEcho(scene.echoUrls, KEY, 100);
  expect(tally.admitted).toBeGreaterThanOrEqual(60);
  expect(tally.admitted).toBeLessThanOrEqual(60 + Math.ceil(tally.tookMs * REFILL_PER_MS) + 1);
  expect(tally.policy).toContain('qp-burst=60');

  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('60 at once');
  await expect(page.getByRole('region', { name: 'Overrides' })).toContainText(/active, .* left/);

  await expect(page.getByRole('region', { name: 'Overrides' })).toContainText('ended', { timeout: LASTS_MS + 5000 });
  for (const url of scene.echoUrls) expect(await burstOf(url, KEY)).toBe(20);
  await expect(page.getByRole('table', { name: 'Effective limits' })).toContainText('20 at once');

  await page.goto('/audit?tenant=hobby&action=override.create');
  const entry = page.getByRole('region', { name: 'Audit entries' }).getByRole('listitem').first();
  await expect(entry).toContainText('Launch day, agreed with their CTO');
  await expect(entry).toContainText('First operator');
});

/** What a wall clock in Berlin shows, as a date-and-time field takes it. */
function berlinClock(at: Date): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' }).format(at).replace(' ', 'T');
}
