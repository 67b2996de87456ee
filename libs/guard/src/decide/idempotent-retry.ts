import { retryKey, type RetryCharge } from '@quotaplane/rate-limit';
import type { Call } from './call';

/** An Idempotency-Key: 1 to 255 printable ASCII characters. Anything else is no key, and the call costs what it costs. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** @param header value of the caller's Idempotency-Key */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  return header !== undefined && IDEMPOTENCY_KEY.test(header) ? header : undefined;
}

/** The charge that makes a repeat of this call cheaper; undefined where the class gains nothing by it. */
export function retryChargeOf(call: Call, key: string): RetryCharge | undefined {
  const { retry } = call.class;
  if (!retry || retry.cost >= call.cost) return undefined;
  const counter = retryKey({ tenant: call.tenant, subject: whoRepeats(call), method: call.method, route: call.route, key });
  return { kind: 'retry', counter, windowMs: retry.windowMs, max: retry.max, repeatCost: retry.cost, cost: 0 };
}

/** The most specific name of the caller, so that nobody rides on another's key. */
function whoRepeats({ keyId, userId, address }: Call): string {
  if (keyId) return `key:${keyId}`;
  return userId ? `user:${userId}` : `ip:${address}`;
}
