import { DomainError } from '@quotaplane/contracts';
import { PLATFORM_CHAIN, type ChangesService } from '../audit/changes.service';
import type { Clock } from '../config/clock';
import { failpoint } from '../config/failpoints';
import type { PrismaService } from '../database/prisma.service';
import { SYSTEM_CALLER } from '../http/caller';
import { dropClaim, endPending, markAttempt, type AttemptMark, type ClaimedDelivery } from './delivery-sql';
import { post, type Posted } from './post-delivery';
import { RefusedReceiverError, type ReceiverAddress } from './receiver-address';
import { retryAfterMsOf, waitAfter, type Random } from './retry-schedule';
import { signedHeaders } from './signature';
import type { AttemptResult } from './webhook-metrics';
import { webhookFrom } from './webhooks.mapping';

export interface AttemptParts {
  readonly prisma: PrismaService;
  readonly changes: ChangesService;
  readonly clock: Clock;
  readonly address: ReceiverAddress;
  readonly random: Random;
  /** Longest attempt, from the look-up of the name to the answer's end. */
  readonly timeoutMs: number;
}

const GONE = 410;
const GONE_REASON = 'The receiver answered 410 Gone';

/**
 * One attempt of a claimed delivery: judge the address, sign, send, write down what came of it. Killed in between, its claim runs out and it is sent
 * again under the same `webhook-id`.
 * @param stop aborted when this process ends: the attempt is cut off, not counted, and the claim given back
 */
export async function attemptDelivery(parts: AttemptParts, delivery: ClaimedDelivery, stop: AbortSignal): Promise<AttemptResult> {
  const startedAt = new Date(parts.clock.now());
  failpoint('webhook.before-send');
  const posted = await send(parts, delivery, { startedAt, stop });
  failpoint('webhook.after-send');
  if (stop.aborted && posted.status === null) {
    await dropClaim(parts.prisma, delivery);
    return 'unmarked';
  }
  const attempt = { at: startedAt.toISOString(), status: posted.status, error: posted.error, tookMs: posted.tookMs };
  if (posted.status === GONE && (await endGone(parts, delivery, { state: 'failed', nextAttemptAt: null, attempt }))) return 'gone';
  const mark = { ...nextOf(parts, delivery, posted), attempt };
  if (!(await markAttempt(parts.prisma, delivery, mark))) return 'unmarked';
  return mark.state === 'pending' ? 'retried' : mark.state;
}

async function send({ address, timeoutMs }: AttemptParts, delivery: ClaimedDelivery, { startedAt, stop }: { startedAt: Date; stop: AbortSignal }): Promise<Posted> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]);
  const url = new URL(delivery.url);
  const judged = await before(signal, address.judge(url)).catch((error: unknown) => errorOf(error));
  if (judged instanceof Error) {
    const error = judged instanceof RefusedReceiverError ? `not sent: the URL ${judged.message}` : 'the name could not be looked up in time';
    return { status: null, error, retryAfter: undefined, tookMs: 0 };
  }
  const body = JSON.stringify({ type: delivery.type, timestamp: delivery.at.toISOString(), data: delivery.data });
  const headers = signedHeaders({ id: delivery.eventId, timestampS: Math.floor(startedAt.getTime() / 1000), body }, secretsOf(delivery, startedAt));
  return post({ url, headers, body, addresses: judged, signal });
}

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new RefusedReceiverError('cannot be judged'));

/** Waits no longer than the signal lets; a look-up cannot be cut off, only left. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(errorOf(signal.reason)), { once: true });
    work.then(resolve, reject);
  });
}

function secretsOf({ secret, formerSecret, formerSecretUntil }: ClaimedDelivery, now: Date): string[] {
  return formerSecret !== null && formerSecretUntil !== null && formerSecretUntil > now ? [secret, formerSecret] : [secret];
}

function nextOf({ clock, random }: AttemptParts, { attempts }: ClaimedDelivery, { status, retryAfter }: Posted): { state: 'pending' | 'delivered' | 'given-up'; nextAttemptAt: Date | null } {
  if (status !== null && status >= 200 && status < 300) return { state: 'delivered', nextAttemptAt: null };
  const nowMs = clock.now();
  const waitMs = waitAfter(attempts + 1, retryAfterMsOf(retryAfter, nowMs), random);
  return waitMs === undefined ? { state: 'given-up', nextAttemptAt: null } : { state: 'pending', nextAttemptAt: new Date(nowMs + waitMs) };
}

/**
 * The receiver wants nothing any more: the endpoint ends, with an entry in the audit log, and so does all that waits for it.
 * @returns false where it had ended already, or was given another URL meanwhile
 */
async function endGone({ changes }: AttemptParts, delivery: ClaimedDelivery, mark: AttemptMark): Promise<boolean> {
  const ending = changes.commit(SYSTEM_CALLER, [PLATFORM_CHAIN], async (tx) => {
    const { count } = await tx.webhook.updateMany({
      where: { id: delivery.webhookId, status: 'active', url: delivery.url, deletedAt: null },
      data: { status: 'gone', disabledReason: GONE_REASON, version: { increment: 1 } },
    });
    if (count === 0) throw new DomainError('conflict', 'The endpoint has ended, or was changed, already');
    await markAttempt(tx, delivery, mark);
    await endPending(tx, delivery.webhookId);
    const after = webhookFrom(await tx.webhook.findUniqueOrThrow({ where: { id: delivery.webhookId } }), 0);
    const before = { ...after, status: 'active', disabledReason: null, version: after.version - 1 };
    return { answer: {}, action: 'webhook.gone', entity: { type: 'webhook', id: delivery.webhookId }, topics: [], before, after, reason: GONE_REASON };
  });
  return ending.then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError && error.code === 'conflict') return false;
      throw error;
    },
  );
}
