import { AxeBuilder } from '@axe-core/playwright';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

/** Every route, with the heading that says it has loaded. */
const ROUTES = [
  ['/', 'Overview'],
  ['/tenants', 'Tenants'],
  ['/tenants/acme', 'Acme Tools'],
  ['/offenders', 'Offenders'],
  ['/overrides', 'Overrides'],
  ['/lists', 'Lists & penalties'],
  ['/usage', 'Usage'],
  ['/statements', 'Statements'],
  ['/audit', 'Audit'],
  ['/tiers', 'Tiers'],
  ['/tiers/pro', 'Pro'],
  ['/endpoint-classes', 'Endpoint classes'],
  ['/nodes', 'Nodes'],
  ['/settings', 'Settings'],
  ['/tenants/nosuch', 'No tenant named nosuch'],
  ['/statements/00000000-0000-4000-8000-000000000000', 'No statement named'],
  ['/settings/webhooks/00000000-0000-4000-8000-000000000000', 'No webhook endpoint named'],
  ['/nowhere', 'No such page'],
] as const;
const WCAG_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    for (const [path, title] of ROUTES) {
      test(`axe finds nothing on ${path}`, async ({ page }) => {
        await page.goto(path);
        await expect(page.getByRole('heading', { name: title, level: 1 })).toBeVisible();
        await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
        expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      });
    }

    for (const [path, button] of [
      ['/tiers', 'New tier'],
      ['/endpoint-classes', 'New class'],
    ] as const) {
      test(`axe finds nothing in the form behind ${button}`, async ({ page }) => {
        await page.goto(path);
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').getByRole('button', { name: /^Create/ }).click();
        await expect(page.getByText(/^Lower-case letters/)).toBeVisible();
        expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      });
    }

    test('axe finds nothing in the form for lists and penalties and its review', async ({ page }) => {
      await page.goto('/lists?list=deny');
      await page.getByRole('button', { name: 'New entry' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByText('Say why, in 3 to 500 characters')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await dialog.getByRole('textbox', { name: 'Address or range' }).fill('192.0.2.0/24');
      await dialog.getByLabel('Reason').fill('Only looking');
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByRole('button', { name: 'Deny now' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });

    test('axe finds nothing in the rest of a limit, a class with cheaper repeats, and a raise for one user', async ({ page }) => {
      await page.goto('/tiers/pro');
      await page.getByRole('button', { name: 'More of limit 1' }).click();
      await page.getByLabel('Penalise who keeps calling past it').check();
      await page.getByLabel('Limit 1: algorithm').selectOption('leaky-bucket');
      await expect(page.getByLabel('Limit 1: longest wait')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.goto('/endpoint-classes');
      await page.getByRole('button', { name: 'New class' }).click();
      await page.getByLabel('Cheaper repeats').check();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.goto('/tenants?raise=acme');
      await page.getByText('One user', { exact: true }).click();
      await expect(page.getByText(/^No limit of this tier counts single users/)).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });

    test('axe finds nothing on a statement, a tenant’s chart, and the log of an endpoint', async ({ page, control }) => {
      await page.goto('/statements?tenant=globex');
      await page.getByRole('table', { name: 'Statements' }).getByRole('link', { name: 'globex' }).first().click();
      await expect(page.getByRole('region', { name: 'Reconciliation' })).toBeVisible();
      await page.getByRole('button', { name: 'Verify' }).click();
      await expect(page.getByRole('status').filter({ hasText: 'Sound' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.goto('/usage?tenant=acme&sort=tenant');
      await page.getByText('What it is made of').first().click();
      await page.getByRole('button', { name: 'What acme used of requests' }).click();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      const { id } = await control.post<{ id: string }>('/v1/webhooks', { url: 'http://127.0.0.1:9/hooks', events: ['override.ending'] });
      await page.goto(`/settings/webhooks/${id}`);
      await expect(page.getByText('Nothing sent yet')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Rotate the secret' }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.goto('/settings');
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      await page.getByRole('dialog').getByText('Pace').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
      await expect(page.getByText('An address that begins with https:// or http://')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });

    test('axe finds nothing in the forms to grant, to change the tier and the calendar, and their reviews', async ({ page }) => {
      const dialog = page.getByRole('dialog');
      await page.goto('/tenants/acme?grant=acme');
      await dialog.getByText('Start and order').click();
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByText('Enter 1 or more whole units')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await dialog.getByLabel('Units to grant').fill('500');
      await dialog.getByLabel('Reason').fill('Only looking');
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByRole('button', { name: 'Grant to acme' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);

      await page.goto('/tenants/acme');
      await page.getByRole('button', { name: 'Change tier' }).click();
      await dialog.getByRole('combobox', { name: 'Tier' }).click();
      await page.getByRole('option', { name: 'Free', exact: true }).click();
      await expect(dialog.getByRole('table', { name: 'Quotas before and after' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await page.goto('/tenants/acme');
      await page.getByRole('button', { name: 'Change calendar' }).click();
      await dialog.getByLabel('Period starts on day').fill('15');
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByRole('button', { name: 'Change calendar' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });

    test('axe finds nothing in the rest of a quota', async ({ page }) => {
      await page.goto('/tiers/pro');
      await page.getByRole('button', { name: 'More of quota 1' }).click();
      await expect(page.getByLabel('Quota 1: alert at')).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });

    test('axe finds nothing in the raise dialog and its review', async ({ page }) => {
      await page.goto('/tenants?raise=acme');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('150');
      await dialog.getByLabel('Reason').fill('Only looking');
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
      await dialog.getByRole('button', { name: 'Review' }).click();
      await expect(dialog.getByRole('button', { name: 'Apply to acme' })).toBeVisible();
      expect(await violations(new AxeBuilder({ page }))).toEqual([]);
    });
  });
}

test.describe('signed out', () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test('axe finds nothing on the sign-in page, which says what was wrong', async ({ page }) => {
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toContainText('Request ');
    expect(await violations(new AxeBuilder({ page }))).toEqual([]);
  });
});

/** `rule: where`, one a line, so that a failure reads at once. */
async function violations(axe: AxeBuilder): Promise<string[]> {
  const { violations: found } = await axe.withTags(WCAG_AA).analyze();
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
