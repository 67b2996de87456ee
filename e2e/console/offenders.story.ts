import { callEcho } from './rig/echo-client';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a tenant that is denied appears among the offenders by itself, and its row stays under the pointer', async ({ page, scene, control }) => {
  const { slug, key } = await control.tenant('offender', 'free');
  await page.goto('/offenders?minutes=1');
  await expect(page.getByRole('heading', { name: 'Offenders', level: 1 })).toBeVisible();
  const row = page.getByRole('row').filter({ hasText: slug });
  await expect(row).toHaveCount(0);

  const tally = await callEcho(scene.echoUrls, key, 60);
  expect(tally.denied).toBeGreaterThan(0);
  await expect(row).toContainText(/per-minute × \d+/);
  // Fails when the list grows wider than its page: the buttons would lie beyond the edge.
  await expect(row.getByRole('link', { name: `Raise a limit of ${slug}` })).toBeInViewport({ ratio: 1 });

  // A second tenant that is denied more comes first only once the pointer has left.
  await row.hover();
  const before = await row.boundingBox();
  const louder = await control.tenant('louder', 'free');
  await callEcho(scene.echoUrls, louder.key, 120);
  await expect(page.getByRole('row').filter({ hasText: louder.slug })).toBeVisible();
  expect((await row.boundingBox())?.y).toBe(before?.y);
  await page.mouse.move(5, 5);
  await expect(page.getByRole('row').nth(1)).toContainText(louder.slug);

  // Denied once more: on a slow machine the minute of the window may be over by now.
  await callEcho(scene.echoUrls, key, 60);
  await row.getByRole('link', { name: `Raise a limit of ${slug}` }).click();
  await expect(page.getByRole('dialog', { name: `Raise a limit of ${slug}` })).toBeVisible();
});
