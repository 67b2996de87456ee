import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import { degradedAnswers } from '../story/rig/degraded-totals';
import type { Answer } from '../story/rig/http-call';
import { bucketBounds, byStore, passed } from '../story/rig/story';
import { balanced, echo, tenantOn } from './rig/fleet';
import { limitFor } from './rig/limits';

const SECONDS = figure(5, 60);

/** Offers `perSecond` calls for a while, each sent when it is due whether or not the ones before were answered. */
async function offer(perSecond: number, seconds: number, send: () => Promise<Answer>): Promise<Answer[]> {
  const calls: Promise<Answer>[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < seconds * 1000) {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1000);
    while (calls.length <= due) calls.push(send());
    await sleep(5);
  }
  return Promise.all(calls);
}

describe.each([2, 4])('proof 2: a burst, then no more than the rate, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it.each(['token-bucket', 'gcra'] as const)('%s passes its burst and what refills, twice that offered', async (algorithm) => {
    const bucket = { capacity: 50, limit: 40, windowMs: 1000 };
    const { key } = await tenantOn(`sustain-${algorithm}`, { limits: [limitFor(algorithm, { limit: 40, windowMs: 1000, burst: 50 })] });
    const answers = await offer(80, SECONDS, () => echo(fleet.url, key));
    const bounds = bucketBounds(answers, bucket);
    expect(passed(byStore(answers)).length).toBeLessThanOrEqual(bounds.most);
    // What refilled while the last calls were under way may have come too late for them; a node that decided alone may have denied for the store.
    expect(passed(answers).length).toBeGreaterThanOrEqual(bounds.least - 2 - degradedAnswers(answers).length);
  });

  it.each(['fixed-window', 'sliding-log', 'sliding-counter'] as const)('%s never passes more in a window than it may', async (algorithm) => {
    const [limit, windowMs] = [60, 2000];
    const { key } = await tenantOn(`sustain-${algorithm}`, { limits: [limitFor(algorithm, { limit, windowMs })] });
    const answers = await offer(60, SECONDS, () => echo(fleet.url, key));
    const through = passed(byStore(answers)).sort((one, other) => one.receivedAt - other.receivedAt);
    // Decided between sending and answer: a window holds those whose whole span lies in it.
    const widest = Math.max(...through.map(({ sentAt }) => through.filter((other) => other.sentAt >= sentAt && other.receivedAt < sentAt + windowMs).length));
    const allowed = algorithm === 'sliding-log' ? limit : 2 * limit;
    expect(widest).toBeLessThanOrEqual(allowed);
    expect(through.length).toBeGreaterThanOrEqual(Math.floor(SECONDS * 1000 / windowMs) * limit * 0.9);
  });
});
