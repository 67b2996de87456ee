import { MAX_EXACT } from '@quotaplane/contracts';

/** A counter outlives its time to untouched by this, so that an early expiry can never hand back units (P06). */
export const GRACE_MS = 60_000;
/** A quota's counter outlives its period by this: late refunds and the fold still find it. */
export const QUOTA_GRACE_MS = 172_800_000;
/** Longest wait that a limit of 0 advertises: it is a hint, for only an edit ends it. */
export const CLOSED_HINT_MAX_MS = 86_400_000;

/** Up to here a quotient that was rounded up shows: its product with the divisor is still exact. A modulo of doubles takes ten times as long. */
const QUICK_MAX = 4_503_599_627_370_495;

/** Exact where `a / b` would round. `a` >= 0, `b` > 0. */
export const floorDivide = (a: number, b: number): number => {
  if (a > QUICK_MAX || b > QUICK_MAX) return (a - (a % b)) / b;
  const quotient = Math.floor(a / b);
  return quotient * b > a ? quotient - 1 : quotient;
};

/** @see floorDivide */
export const ceilDivide = (a: number, b: number): number => {
  const quotient = floorDivide(a, b);
  return quotient * b === a ? quotient : quotient + 1;
};

/** `waitMs + graceMs`, held within the exact range. */
export const ttlOf = (waitMs: number, graceMs: number): number => Math.min(waitMs, MAX_EXACT - graceMs) + graceMs;
