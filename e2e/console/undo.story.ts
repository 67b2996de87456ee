import { burstOf } from './rig/echo-client';
import { expect, needsChromium, test } from './rig/console-test';

needsChromium();

test('a raise is undone from its receipt with a reason', async ({ page, scene, control }) => {
  const { slug, key } = await control.tenant('undo', 'free');
  await page.goto(`/tenants/${slug}?raise=${slug}`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('per-minute burst, proposed', { exact: true }).fill('45');
  await dialog.getByLabel('Reason').fill('A slip of the keyboard');
  await dialog.getByRole('button', { name: 'Review' }).click();
  await page.keyboard.press('Control+Enter');
  await expect(dialog.getByText(/^Live on 2 of 2 nodes/)).toBeVisible();
  expect(await burstOf(scene.echoUrls[0], key)).toBe(45);

  await dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(dialog.getByLabel('Reason for reverting')).toHaveValue('Undo: A slip of the keyboard');
  await dialog.getByRole('button', { name: 'Revert now' }).click();
  await expect(dialog.getByText(/Undone/)).toBeVisible();
  await expect(dialog.getByText(/^Live on 2 of 2 nodes/)).toBeVisible();
  expect(await burstOf(scene.echoUrls[1], key)).toBe(20);
});
