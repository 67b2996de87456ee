import { AxeBuilder } from '@axe-core/playwright';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

// Nobody is signed in: consumers of the API have no account in the console.
test.use({ storageState: { cookies: [], origins: [] } });

const WCAG_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 800, 1280]) {
    test(`axe finds nothing on /limits in ${colorScheme} at ${width} px, and nothing sticks out`, async ({ browser, baseURL }) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, ...(baseURL === undefined ? {} : { baseURL }) });
      const page = await context.newPage();
      await page.goto('/limits');
      await expect(page.getByRole('heading', { name: 'Limits and quotas', level: 1 })).toBeVisible();
      const { violations } = await new AxeBuilder({ page }).withTags(WCAG_AA).analyze();
      expect(violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
      await context.close();
    });
  }
}

test('a denial\'s link leads to its limit, with the figures of every tier', async ({ page }) => {
  await page.goto('/limits#per-minute');
  await expect(page.locator(':target')).toBeInViewport();
  const table = page.getByRole('table', { name: 'per-minute by tier' });
  await expect(table.getByRole('row', { name: 'Free 100 per minute 20 120 in 1 minute token-bucket' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Internal' })).toHaveCount(0);
});
