import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The story of the product against the product itself: `npx vitest run --config e2e/story/vitest.config.ts`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'story',
    environment: 'node',
    include: ['**/*.spec.ts'],
    globalSetup: ['rig/global-setup.ts'],
    pool: 'forks',
    // One after the other: they share a platform, and two of them at once would measure each other.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
});
