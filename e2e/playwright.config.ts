import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { CHROMIUM_FLAGS, ensureChromium } from './console/rig/chromium';

/** Here and not in the set-up: which stories are skipped is decided while the files are read, before any set-up runs. */
const executablePath = ensureChromium();

/** Stories of the console, told in a real browser against a whole platform of their own. */
export default defineConfig({
  testDir: './console',
  testMatch: '**/*.story.ts',
  outputDir: join(tmpdir(), 'quotaplane-playwright'),
  globalSetup: './console/rig/global-setup.ts',
  // One platform and two cores: stories side by side would only wait for each other.
  workers: 1,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 10_000 },
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    timezoneId: 'Europe/Berlin',
    trace: 'retain-on-failure',
    launchOptions: { executablePath, args: CHROMIUM_FLAGS },
  },
});
