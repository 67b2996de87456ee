import { request } from '@playwright/test';
import { join } from 'node:path';
import { startEcho, startPlatform, type Platform } from '../../story/rig/platform';
import { findChromium } from './chromium';
import { publishScene } from './scene';

const ADMIN = { email: 'ada@example.com', password: 'stories-need-a-long-one' };

/** Starts the product once for all stories, a second echo beside it, and signs the operator in; the returned step ends all. */
export default async function setup(): Promise<() => Promise<void>> {
  if (findChromium() === undefined) return async () => undefined;
  const platform = await startPlatform({
    QUOTAPLANE_ADMIN_EMAIL: ADMIN.email,
    QUOTAPLANE_ADMIN_PASSWORD: ADMIN.password,
    // What has just ended waits for the story that closes it by hand.
    QUOTAPLANE_CLOSING_GRACE_HOURS: '720',
  });
  try {
    const echo = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir });
    publishScene({
      apiUrl: platform.apiUrl,
      echoUrls: [platform.echoUrl, echo.url],
      token: platform.token,
      admin: ADMIN,
      sessionFile: await signIn(platform),
    });
    return async () => {
      await echo.stop();
      await platform.stop();
    };
  } catch (error) {
    await platform.stop();
    throw error;
  }
}

/** Once for all stories but the one about signing in: attempts are limited. */
async function signIn(platform: Platform): Promise<string> {
  const sessionFile = join(platform.dataDir, 'session.json');
  const browser = await request.newContext({ baseURL: platform.apiUrl, extraHTTPHeaders: { 'X-Quotaplane-Console': '1' } });
  const answer = await browser.post('/v1/auth/sign-in', { data: ADMIN });
  if (!answer.ok()) throw new TypeError(`The operator cannot sign in: ${answer.status()} ${await answer.text()}`);
  await browser.storageState({ path: sessionFile });
  await browser.dispose();
  return sessionFile;
}
