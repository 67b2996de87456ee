import { expect, inject } from 'vitest';
import { ControlPlane } from './control-plane';
import { call, flood, headerOf, type Answer } from './http-call';
import { degradedAnswers } from './degraded-totals';
import { limitOf } from './limit-fields';
import { idleShare, until } from './patience';

export const platform = inject('platform');
export const control = new ControlPlane(platform.apiUrl, platform.token);
export const [echoUrl, otherEchoUrl] = platform.echoUrls;

/** Name of the rate of every customer tier. */
export const PER_MINUTE = 'per-minute';

/** Looks at the limits of a key without spending: a bulk call without items costs nothing. */
export function peek(url: string, key: string): Promise<Answer> {
  return call(`${url}/bulk`, { method: 'POST', key, body: { items: [] } });
}

/** Waits until the bucket `per-minute` of a key is full again. */
export async function untilUntouched(url: string, key: string): Promise<void> {
  await until(`an untouched limit of ${key}`, 60_000, async () => {
    const answer = await peek(url, key);
    if (headerOf(answer, 'RateLimit-Source') !== '') return false;
    const { capacity, remaining } = limitOf(answer, PER_MINUTE);
    return remaining === capacity;
  }, 100);
}

/** Calls GET /echo over the given processes in turn. */
export function floodEcho(urls: readonly string[], key: string, total: number, atOnce: number): Promise<Answer[]> {
  return flood(total, atOnce, (index) => call(`${urls[index % urls.length]}/echo`, { key }));
}

export const passed = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 200);
export const denied = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 429);

/** What the store decided; the rest was decided by a node alone and touches no count of the store's. */
export const byStore = (answers: readonly Answer[]): Answer[] => answers.filter((answer) => headerOf(answer, 'RateLimit-Source') === '');

/** Whether the machine has time: a promise in milliseconds is held strictly only then, and loosely while others are at work on it. */
export const isMachineCalm = async (): Promise<boolean> => (await idleShare(500)) >= 0.6;

/**
 * Holds the store's decisions of a saturating run to `least` and `most` passes. A node that waits for its store longer than its budget, which a
 * busy machine can make it do, decides alone and hands back what the store spent late: only that many may be missing.
 */
export function expectPasses(answers: readonly Answer[], { least, most }: { least: number; most: number }, isCalm: boolean): void {
  const degraded = degradedAnswers(answers).length;
  const decided = byStore(answers);
  if (degraded > 0) console.log(`${degraded} of ${answers.length} calls were decided without the store; machine ${isCalm ? 'calm' : 'busy'}`);
  if (isCalm) expect(degraded).toBe(0);
  expect(passed(decided).length).toBeLessThanOrEqual(most);
  expect(passed(decided).length).toBeGreaterThanOrEqual(Math.min(least, decided.length) - degraded);
  expect(passed(answers).length + denied(answers).length).toBe(answers.length);
}

/**
 * How many of a saturating run a bucket passes that was full before it: its capacity and what refills meanwhile. The run is measured from
 * outside, so two figures bound it: the widest span in which the decisions can lie, and the narrowest.
 */
export function bucketBounds(run: readonly Answer[], bucket: { capacity: number; limit: number; windowMs: number }): { least: number; most: number } {
  const refillOf = (spanMs: number): number => Math.floor((Math.max(0, spanMs) * bucket.limit) / bucket.windowMs);
  const answers = byStore(run);
  const firstSent = Math.min(...answers.map(({ sentAt }) => sentAt));
  const firstBack = Math.min(...answers.map(({ receivedAt }) => receivedAt));
  const lastDeniedSent = Math.max(0, ...denied(answers).map(({ sentAt }) => sentAt));
  const lastBack = Math.max(...answers.map(({ receivedAt }) => receivedAt));
  // A millisecond on either side: Date.now() cuts fractions off at both ends.
  return { least: bucket.capacity + refillOf(lastDeniedSent - firstBack - 1), most: bucket.capacity + refillOf(lastBack - firstSent + 1) };
}
