import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { OPERATOR, type ControlPlane } from './control-plane';

const ROUNDS = 5;
/** The system's Chromium; Playwright's own where neither is there. */
const CHROMIUM = [process.env['CHROMIUM_PATH'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => path !== '' && existsSync(path));

export interface ConsoleFigures {
  /** Scripts, styles and documents of a first visit to the tenants' list, gzipped. */
  readonly firstLoadBytes: number;
  /** Until a row of the list is shown and the search takes text, ms, of each round: sorted, with an empty cache. */
  readonly interactiveMs: readonly number[];
}

/** Opens the tenants' list as an operator who is signed in, in a fresh browser profile each time. */
export async function measureConsole({ api }: ControlPlane): Promise<ConsoleFigures> {
  const browser = await chromium.launch({ ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }), args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
  try {
    const interactiveMs: number[] = [];
    let firstLoadBytes = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const context = await browser.newContext({ baseURL: api.url });
      await context.request.post('/v1/auth/sign-in', { data: OPERATOR });
      const page = await context.newPage();
      const needed = new Set<string>();
      page.on('response', (response) => {
        if (['document', 'script', 'stylesheet'].includes(response.request().resourceType())) needed.add(response.url());
      });
      const startedAt = performance.now();
      await page.goto('/tenants', { waitUntil: 'commit' });
      await page.locator('tbody tr, [role=row]').nth(1).waitFor();
      await page.getByLabel('Search tenants').fill('b');
      interactiveMs.push(performance.now() - startedAt);
      const urls = [...needed];
      await context.close();
      const sizes = await Promise.all(urls.map(async (url) => gzipSync(await (await fetch(url, { headers: { accept: 'text/html,*/*' } })).arrayBuffer()).length));
      firstLoadBytes = sizes.reduce((sum, size) => sum + size, 0);
    }
    return { firstLoadBytes, interactiveMs: interactiveMs.sort((a, b) => a - b) };
  } finally {
    await browser.close();
  }
}
