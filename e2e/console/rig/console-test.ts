import { test as base, expect, type Page } from '@playwright/test';
import { ControlPlane } from '../../story/rig/control-plane';
import { findChromium } from './chromium';
import { readScene, type Scene } from './scene';

interface ConsoleFixtures {
  readonly scene: Scene;
  readonly control: ControlPlane;
  /** Fails the story when the page broke its own security policy or threw. */
  readonly cleanPage: void;
}

/** A story with a signed-in operator. */
export const test = base.extend<ConsoleFixtures>({
  scene: async ({ browserName: _ }, use) => use(readScene()),
  baseURL: async ({ scene }, use) => use(scene.apiUrl),
  storageState: async ({ scene }, use) => use(scene.sessionFile),
  control: async ({ scene }, use) => use(new ControlPlane(scene.apiUrl, scene.token)),
  cleanPage: [
    async ({ page }, use) => {
      const faults = watchFaults(page);
      await use();
      expect(faults, 'errors of the page').toEqual([]);
    },
    { auto: true },
  ],
});
export { expect };

/** Called at the head of each file, so that a machine without Chromium reports its stories as skipped, by name. */
export function needsChromium(): void {
  test.skip(findChromium() === undefined, 'There is no Chromium here.');
}

function watchFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // A refused request is what some stories are about; a refused script or style never is.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) faults.push(message.text());
  });
  return faults;
}
