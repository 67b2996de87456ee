import type { LimiterCall } from './limiter-call';
import type { LimiterDecision } from './limiter-decision';

/** The part of a BullMQ job that is needed to delay it. */
export interface DelayableJob {
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/** Known to BullMQ by its name: the processor has moved the job itself, so that nothing failed and no attempt is used up. */
class JobDelayedError extends Error {
  override readonly name = 'DelayedError';
}

/** Known to BullMQ by its name: trying again cannot help. */
class JobRefusedError extends Error {
  override readonly name = 'UnrecoverableError';
}

/** A job was refused, and nothing says that waiting or trying again helps or does not: its own attempts and back-off decide. */
export class JobDeniedError extends Error {
  override readonly name = 'JobDeniedError';
  constructor(readonly decision: LimiterDecision) {
    super(decision.problem?.detail ?? 'denied');
  }
}

/** @see Limiter.admitJob */
export async function admitJob(
  decide: (call: LimiterCall) => Promise<LimiterDecision>, job: DelayableJob, token: string | undefined, call: LimiterCall,
): Promise<LimiterDecision> {
  const decision = await decide(call);
  if (decision.outcome === 'allowed') {
    if (decision.waitMs > 0) await new Promise((resolve) => setTimeout(resolve, decision.waitMs));
    return decision;
  }
  decision.release();
  const detail = decision.problem?.detail ?? 'denied';
  if (decision.retryAfterMs !== undefined) {
    await job.moveToDelayed(Date.now() + decision.retryAfterMs, token);
    throw new JobDelayedError(detail);
  }
  if (decision.code === 'cost_exceeds_limit' || decision.code === 'invalid') throw new JobRefusedError(detail);
  throw new JobDeniedError(decision);
}
