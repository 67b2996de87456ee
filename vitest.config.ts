import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

const ROOMS = {
  api: 'apps/api',
  echo: 'apps/echo',
  contracts: 'libs/contracts',
  'rate-limit': 'libs/rate-limit',
  policy: 'libs/policy',
  usage: 'libs/usage',
  guard: 'libs/guard',
  testing: 'libs/testing',
} as const;

/** Real stores start inside the hooks, so a hook may take longer than a test. */
const TIMEOUTS = { testTimeout: 20_000, hookTimeout: 60_000, teardownTimeout: 20_000 };

function room(name: string, folder: string): TestProjectConfiguration {
  return {
    root: `${root}${folder}`,
    test: {
      name,
      environment: 'node',
      include: ['src/**/*.spec.ts'],
      pool: 'forks',
      // Nest's injection reads decorator metadata through this polyfill, also in specs that load no Nest module first.
      setupFiles: ['reflect-metadata'],
      ...TIMEOUTS,
    },
  };
}

const tools: TestProjectConfiguration = {
  root: `${root}tools`,
  // The lint spec runs nx twice and the build spec bundles two apps: both need longer than a unit test.
  test: { name: 'tools', environment: 'node', include: ['**/*.spec.{ts,mjs}'], pool: 'forks', ...TIMEOUTS, testTimeout: 180_000 },
};

// The console keeps its own vite plugins; specs that render put `// @vitest-environment jsdom` or happy-dom first.
const consoleConfig = `${root}apps/console/vite.config.ts`;
const consoleProject: TestProjectConfiguration = {
  ...(existsSync(consoleConfig) ? { extends: consoleConfig } : {}),
  root: `${root}apps/console`,
  test: { name: 'console', environment: 'node', include: ['src/**/*.spec.{ts,tsx}'], pool: 'forks', ...TIMEOUTS },
};

export default defineConfig({
  test: {
    passWithNoTests: true,
    maxWorkers: 2,
    projects: [...Object.entries(ROOMS).map(([name, folder]) => room(name, folder)), tools, consoleProject],
  },
});
