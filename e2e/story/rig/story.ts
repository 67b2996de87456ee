import { inject } from 'vitest';
import { ControlPlane } from './control-plane';
import { call, flood, type Answer } from './http-call';
import { tightest } from './limit-fields';
import { until } from './patience';

export const platform = inject('platform');
export const control = new ControlPlane(platform.apiUrl, platform.token);
export const [echoUrl, otherEchoUrl] = platform.echoUrls;

/** Looks at the tightest limit of a key without spending: a bulk call without items costs nothing. */
export function peek(url: string, key: string): Promise<Answer> {
  return call(`${url}/bulk`, { method: 'POST', key, body: { items: [] } });
}

/** Waits until a refilling limit is full again; its bucket must be back within a minute. */
export async function untilUntouched(url: string, key: string): Promise<void> {
  await until(`an untouched limit of ${key}`, 60_000, async () => {
    const { limit, remaining } = tightest(await peek(url, key));
    return remaining === limit;
  }, 100);
}

/** Calls GET /echo over the given processes in turn. */
export function floodEcho(urls: readonly string[], key: string, total: number, atOnce: number): Promise<Answer[]> {
  return flood(total, atOnce, (index) => call(`${urls[index % urls.length]}/echo`, { key }));
}

export const passed = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 200);
export const denied = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 429);

/**
 * How many of a saturating run a bucket passes that was full before it: its capacity and what refills meanwhile. The run is measured from
 * outside, so two figures bound it: the widest span in which the decisions can lie, and the narrowest.
 */
export function bucketBounds(answers: readonly Answer[], bucket: { capacity: number; limit: number; windowMs: number }): { least: number; most: number } {
  const refillOf = (spanMs: number): number => Math.floor((Math.max(0, spanMs) * bucket.limit) / bucket.windowMs);
  const firstSent = Math.min(...answers.map(({ sentAt }) => sentAt));
  const firstBack = Math.min(...answers.map(({ receivedAt }) => receivedAt));
  const lastDeniedSent = Math.max(0, ...denied(answers).map(({ sentAt }) => sentAt));
  const lastBack = Math.max(...answers.map(({ receivedAt }) => receivedAt));
  // A millisecond on either side: Date.now() cuts fractions off at both ends.
  return { least: bucket.capacity + refillOf(lastDeniedSent - firstBack - 1), most: bucket.capacity + refillOf(lastBack - firstSent + 1) };
}
