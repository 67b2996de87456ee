import type { TestProject } from 'vitest/node';
import { provideFleet } from '../../story/rig/global-setup';

/** The product with four echo processes in all. The demo's months stay open: closing them takes the first seconds, in which latencies are measured. */
export default (project: TestProject): Promise<() => Promise<void>> => provideFleet(project, 3, { QUOTAPLANE_CLOSING_GRACE_HOURS: '720' });
