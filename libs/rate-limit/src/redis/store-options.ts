import { randomUUID } from 'node:crypto';
import type { LimitRedis } from './connect-limit-redis';
import type { SlotOptions } from './slot-keeper';

export interface LimitStoreOptions {
  /** Replaces Redis TIME, in ms; release builds never pass it. */
  readonly testClock?: () => number;
  /** Most checks in one call. */
  readonly maxBatch?: number;
  /** Names this life of the process among the holders of slots; a random UUID when left out. No two stores may share one. */
  readonly incarnation?: string;
  /** How long slots of a process that fell silent stay taken, 1,000 to 60,000 ms; 15 s when left out. Renewed each third of it. */
  readonly leaseMs?: number;
  /** After a loss of data: how long no slot is given, so that other processes can write their counts anew; 3 s when left out. */
  readonly graceMs?: number;
  /** A lease ended with slots held: the store did not hear this process in time. Beside the `onLost` of each. */
  readonly onSlotsLost?: (counter: string, count: number) => void;
}

export interface RedisLimitStoreOptions extends LimitStoreOptions {
  /** A client made by `connectLimitRedis`: others may queue or resend commands, which would break the deadline. The store does not end it. */
  readonly redis: LimitRedis;
}

export const MAX_BATCH = 128;
const LEASE_MS = 15_000;
const GRACE_MS = 3_000;
const LEASE_LEAST_MS = 1_000;
const LEASE_MOST_MS = 60_000;
const INCARNATION = /^[\w.-]{1,64}$/;

/** An option of a store is outside its bounds. A fault of the caller. */
export class InvalidStoreOptionError extends RangeError {
  override readonly name = 'InvalidStoreOptionError';
}

/** @throws {InvalidStoreOptionError} */
export const slotOptionsOf = ({ incarnation = randomUUID(), leaseMs = LEASE_MS, graceMs = GRACE_MS, onSlotsLost }: LimitStoreOptions): SlotOptions => {
  if (!Number.isSafeInteger(leaseMs) || leaseMs < LEASE_LEAST_MS || leaseMs > LEASE_MOST_MS) {
    throw new InvalidStoreOptionError(`leaseMs must be a whole number within ${LEASE_LEAST_MS} .. ${LEASE_MOST_MS}, not ${leaseMs}`);
  }
  if (!Number.isSafeInteger(graceMs) || graceMs < 0 || graceMs > LEASE_MOST_MS) throw new InvalidStoreOptionError(`graceMs must be a whole number within 0 .. ${LEASE_MOST_MS}, not ${graceMs}`);
  if (!INCARNATION.test(incarnation)) throw new InvalidStoreOptionError('incarnation must be 1 to 64 letters, digits, dots, dashes or underscores');
  return { incarnation, leaseMs, graceMs, onSlotsLost };
};
