import { DELIVERY_WAITS_S } from '@quotaplane/contracts';

/** A wait is up to a tenth shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1;
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/** 0 to below 1, as Math.random. */
export type Random = () => number;

/**
 * Wait before the next attempt in ms.
 * @param attempts that failed so far, 1 or more
 * @param retryAfterMs what the receiver asked for; honoured where it is longer, up to 24 h
 * @returns undefined where the schedule is over
 */
export function waitAfter(attempts: number, retryAfterMs: number | undefined, random: Random): number | undefined {
  const waitS = DELIVERY_WAITS_S[attempts];
  if (waitS === undefined) return undefined;
  const jittered = Math.round(waitS * 1000 * (1 - JITTER + 2 * JITTER * random()));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}

/** Reads `Retry-After` in both its forms: seconds, or an HTTP date. @returns ms, undefined where it says nothing */
export function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,10}\s*$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
