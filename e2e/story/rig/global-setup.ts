import type { TestProject } from 'vitest/node';
import { startEcho, startPlatform, type Echo } from './platform';

/** What the specs are told of the platform that they share: addresses and the admin token, nothing of its inside. */
export interface SharedPlatform {
  readonly dataDir: string;
  readonly apiUrl: string;
  /** Echo processes on one Redis: that of `npm start` and others of `npm run echo`. */
  readonly echoUrls: readonly [string, string, ...string[]];
  readonly token: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    platform: SharedPlatform;
  }
}

/** Starts the product once for all specs, and a second echo; the returned step ends both. */
export default (project: TestProject): Promise<() => Promise<void>> => provideFleet(project, 1);

/** Starts the product with `more` echo processes beside its own, 1 or more; the returned step ends all. */
export async function provideFleet(project: TestProject, more: number, env: NodeJS.ProcessEnv = {}): Promise<() => Promise<void>> {
  const platform = await startPlatform(env);
  const echoes: Echo[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(echoes.map((echo) => echo.stop()));
    await platform.stop();
  };
  try {
    while (echoes.length < more) echoes.push(await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir }));
    const [second = platform.echoUrl, ...others] = echoes.map(({ url }) => url);
    project.provide('platform', { dataDir: platform.dataDir, apiUrl: platform.apiUrl, echoUrls: [platform.echoUrl, second, ...others], token: platform.token });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
