import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { degradedAnswers } from './rig/degraded-totals';
import { call, type Answer } from './rig/http-call';
import { until } from './rig/patience';
import { startEcho } from './rig/platform';
import { byStore, control, passed, platform } from './rig/story';

/** Longest orderly end of a process (P25). */
const STOP_MAX_MS = 10_000;
const DAY_MS = 86_400_000;

describe('a node that is told to stop', () => {
  it('P25 drops no call that it has taken, flushes its last units and leaves the list of nodes', async () => {
    const tier = await control.tier('leaving', {
      limits: [{ name: 'per-day', algorithm: 'token-bucket', scope: 'tenant', limit: 100_000, windowMs: DAY_MS, burst: 100_000, mode: 'enforce' }],
      quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject', alertAt: [] }],
    });
    const { slug, key } = await control.tenant('leaving', tier);
    const echo = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir });
    const answers: Answer[] = [];
    const dropped: unknown[] = [];
    try {
      const incarnations = (await control.get<{ items: Node[] }>('/v1/nodes')).items.filter(({ alive, kind }) => alive && kind === 'service').length;
      expect(incarnations).toBe(3);
      // A balancer: it asks for the health of a node every 50 ms and sends it calls until one answer is not 200.
      let isHealthy = true;
      const watch = async (): Promise<void> => {
        while (isHealthy) {
          isHealthy = await call(`${echo.url}/health`, { isOnOwnConnection: true }).then(({ status }) => status === 200, () => false);
          await sleep(50);
        }
      };
      const lane = async (): Promise<void> => {
        while (isHealthy) await call(`${echo.url}/echo`, { key, isOnOwnConnection: true }).then((answer) => answers.push(answer), (error: unknown) => dropped.push(error));
      };
      const lanes = [watch(), ...Array.from({ length: 8 }, lane)];
      await sleep(1000);
      // Still at it when the process is told to stop.
      const held = call(`${echo.url}/stream?ms=1500`, { key, isOnOwnConnection: true });
      await sleep(300);
      const stoppingAt = performance.now();
      expect(await echo.stop()).toBe(0);
      expect(performance.now() - stoppingAt).toBeLessThan(STOP_MAX_MS);
      await Promise.all(lanes);
      const stream = await held;
      answers.push(stream);
      expect([stream.status, stream.body]).toEqual([200, 'begin\nend\n']);
    } finally {
      await echo.stop();
    }
    expect(dropped).toEqual([]);
    expect(passed(answers)).toHaveLength(answers.length);
    const expected = { admitted: String(passed(byStore(answers)).length), degraded: String(passed(degradedAnswers(answers)).length) };
    await until('the last units in the ledger', 6000, async () => {
      const usage = await control.usageOf(slug);
      return usage?.breakdown.admitted === expected.admitted && usage.breakdown.degraded === expected.degraded;
    }, 100);
    const left = (await control.get<{ items: Node[] }>('/v1/nodes')).items.filter(({ alive, kind }) => alive && kind === 'service');
    expect(left).toHaveLength(2);
  });

  it('counts what a node had admitted up to a second before it was killed', async () => {
    const { slug, key } = await control.tenant('killed', 'enterprise');
    const echo = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir });
    let units = 0;
    try {
      for (let made = 0; made < 50; made += 1) {
        const answer = await call(`${echo.url}/echo`, { key });
        if (answer.status === 200 && byStore([answer]).length === 1) units += 1;
      }
      await sleep(2000);
    } finally {
      await echo.script.end('SIGKILL');
    }
    await until('the killed node\'s units', 6000, async () => (await control.usageOf(slug))?.breakdown.admitted === String(units), 100);
    await until('two nodes', 8000, async () => (await control.get<{ items: Node[] }>('/v1/nodes')).items.filter(({ alive, kind }) => alive && kind === 'service').length === 2, 100);
  });
});
