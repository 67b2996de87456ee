import type { TestProject } from 'vitest/node';
import { startEcho, startPlatform } from './platform';

/** What the specs are told of the platform that they share: addresses and the admin token, nothing of its inside. */
export interface SharedPlatform {
  readonly dataDir: string;
  readonly apiUrl: string;
  /** Two echo processes on one Redis: that of `npm start` and one of `npm run echo`. */
  readonly echoUrls: readonly [string, string];
  readonly token: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    platform: SharedPlatform;
  }
}

/** Starts the product once for all specs, and a second echo; the returned step ends both. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const platform = await startPlatform();
  try {
    const echo = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir });
    project.provide('platform', { dataDir: platform.dataDir, apiUrl: platform.apiUrl, echoUrls: [platform.echoUrl, echo.url], token: platform.token });
    return async () => {
      await echo.stop();
      await platform.stop();
    };
  } catch (error) {
    await platform.stop();
    throw error;
  }
}
