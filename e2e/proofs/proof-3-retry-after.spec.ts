import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../story/rig/http-call';
import { wholeNumber } from '../story/rig/limit-fields';
import { balanced, echo, tenantOn } from './rig/fleet';
import { limitFor, RATE_ALGORITHMS } from './rig/limits';

const WAITS = figure(5, 60);

/** Calls one after the other until one is denied. */
async function untilDenied(url: string, key: string): Promise<Answer> {
  for (;;) {
    const answer = await echo(url, key);
    if (answer.status === 429) return answer;
    expect(answer.status).toBe(200);
  }
}

describe.each([2, 4])('proof 3: a lone client that waits as told passes, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it('after every denial, whatever the algorithm, and never waits a second too long', async () => {
    const clients = await Promise.all(RATE_ALGORITHMS.map(async (algorithm) => {
      const { key } = await tenantOn(`waits-${algorithm}`, { limits: [limitFor(algorithm, { limit: 7, windowMs: 2300, ...(algorithm === 'token-bucket' || algorithm === 'gcra' ? { burst: 3 } : {}) })] });
      return { algorithm, key };
    }));
    await Promise.all(clients.map(async ({ algorithm, key }) => {
      for (let wait = 0; wait < WAITS; wait += 1) {
        const denial = await untilDenied(fleet.url, key);
        const told = wholeNumber(denial, 'Retry-After');
        expect(told).toBeGreaterThanOrEqual(1);
        await sleep(told * 1000);
        expect([algorithm, wait, (await echo(fleet.url, key)).status]).toEqual([algorithm, wait, 200]);
      }
    }));
  });
});
