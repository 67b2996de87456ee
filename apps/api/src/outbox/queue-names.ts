/** Wake-ups for the relay, so that a change is live within milliseconds of its commit. The outbox row, not the job, is the record. */
export const CHANGES_QUEUE = 'changes';
/** Work that comes round by itself. */
export const SWEEPS_QUEUE = 'sweeps';

/** Pause of a queue's worker after a failure, ms; BullMQ's own is 15 s, which is how long nothing would be folded after Redis is back (C070). */
export const RETRY_AFTER_MS = 500;

/** Sweep -> how often, in ms. One run per slot, whichever worker takes it. */
export const SWEEPS = {
  changes: 1_000,
  usage: 1_000,
  reconciliation: 5_000,
  quotas: 1_000,
  traffic: 5_000,
  timelines: 3_600_000,
  nodes: 600_000,
  history: 3_600_000,
  penalties: 60_000,
  periods: 3_600_000,
  closing: 10_000,
  adjustments: 10_000,
  events: 5_000,
} as const;
export type Sweep = keyof typeof SWEEPS;
