import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * The proofs of enforcement against two and four nodes behind a balancer. Short by default; `npm run proofs:full` runs the figures of the promises.
 * @see docs/promises.md
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'proofs',
    environment: 'node',
    include: ['**/*.spec.ts'],
    globalSetup: ['rig/global-setup.ts'],
    pool: 'forks',
    // One after the other: two of them at once would measure each other.
    fileParallelism: false,
    testTimeout: process.env['QUOTAPLANE_FULL'] ? 3_600_000 : 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
});
