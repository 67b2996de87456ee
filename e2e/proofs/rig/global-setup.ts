import type { TestProject } from 'vitest/node';
import { provideFleet } from '../../story/rig/global-setup';

/** The product with four echo processes in all. */
export default (project: TestProject): Promise<() => Promise<void>> => provideFleet(project, 3);
