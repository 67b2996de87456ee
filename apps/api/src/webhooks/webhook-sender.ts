import { Logger } from '@nestjs/common';
import { PollingLoop, RepeatedMessage } from '../outbox/polling-loop';
import { attemptDelivery, type AttemptParts } from './delivery-attempt';
import { claimDeliveries, countPending, dueEndpoints, fanOutEvents, type ClaimedDelivery, type DueEndpoint } from './delivery-sql';
import type { OutboundLimits, Permit } from './outbound-limits';
import type { WebhookMetrics } from './webhook-metrics';

export interface SenderParts extends AttemptParts {
  readonly limits: OutboundLimits;
  readonly metrics: WebhookMetrics;
}

const EVERY_MS = 250;
const AFTER_ERROR_MS = 1_000;
const EVENTS_AT_ONCE = 500;
/** Longer than any attempt with its bookkeeping: what a killed worker was sending is sent again after it. */
const LEASE_MS = 60_000;
/** How long a stop waits for attempts under way before it cuts them off. */
const STOP_PATIENCE_MS = 5_000;
const COUNT_EVERY_MS = 15_000;

/**
 * Sends what happened to whoever asked for it. Each round fans new events out, then claims for every endpoint as many due deliveries as the endpoint may
 * have under way; attempts run beside the rounds, so that an endpoint that is slow or dead holds up nobody but itself. Any number of workers may do it.
 */
export class WebhookSender {
  private readonly logger = new Logger(WebhookSender.name);
  private readonly complaint = new RepeatedMessage((message) => this.logger.warn(message));
  private readonly stopping = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private pumping: Promise<void> | undefined;
  private isWanted = false;
  private isEnding = false;
  private countedAtMs = -Infinity;
  private readonly loop = new PollingLoop(() => this.pump(), { everyMs: EVERY_MS, afterErrorMs: AFTER_ERROR_MS, onError: (error) => this.complain(error) });

  constructor(private readonly parts: SenderParts) {}

  start(): void {
    this.loop.start();
  }

  /** Takes nothing new, and lets what is under way end, for 5 s at most: what is cut off then is sent again by another worker. */
  async stop(): Promise<void> {
    this.isEnding = true;
    await this.loop.stop();
    const patience = setTimeout(() => this.stopping.abort(), STOP_PATIENCE_MS);
    await Promise.all(this.underWay);
    clearTimeout(patience);
  }

  /** Rounds until none is wanted; a call during one asks for another. */
  pump(): Promise<void> {
    this.isWanted = true;
    this.pumping ??= this.rounds().finally(() => {
      this.pumping = undefined;
    });
    return this.pumping;
  }

  /** Rounds until nothing that is due may be sent, and all attempts have ended. */
  async drain(): Promise<void> {
    do {
      await this.pump();
      await Promise.all(this.underWay);
    } while (this.underWay.size > 0 || this.pumping !== undefined);
  }

  private async rounds(): Promise<void> {
    while (this.isWanted && !this.isEnding) {
      this.isWanted = false;
      await this.round();
    }
  }

  private async round(): Promise<void> {
    const { prisma, clock } = this.parts;
    while ((await fanOutEvents(prisma, new Date(clock.now()), EVENTS_AT_ONCE)) === EVENTS_AT_ONCE);
    for (const endpoint of await dueEndpoints(prisma, new Date(clock.now()))) await this.serve(endpoint);
    await this.count();
    this.complaint.forget();
  }

  /** Permits first, then claims: what is claimed can be sent at once. */
  private async serve(endpoint: DueEndpoint): Promise<void> {
    const { prisma, clock } = this.parts;
    const permits = await this.permitsFor(endpoint);
    if (permits.length === 0) return;
    const nowMs = clock.now();
    const claim = { webhookId: endpoint.id, most: permits.length, now: new Date(nowMs), leasedUntil: new Date(nowMs + LEASE_MS) };
    const claimed = await claimDeliveries(prisma, claim).catch((error: unknown) => {
      permits.forEach((permit) => permit.giveBack());
      throw error;
    });
    permits.forEach((permit, index) => {
      const delivery = claimed[index];
      if (delivery) this.begin(delivery, permit);
      else permit.giveBack();
    });
  }

  private async permitsFor(endpoint: DueEndpoint): Promise<Permit[]> {
    const asked = Array.from({ length: Math.min(endpoint.due, endpoint.concurrency) }, () => this.parts.limits.take(endpoint));
    const answers = await Promise.allSettled(asked);
    const permits = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const away = answers.find((answer) => answer.status === 'rejected');
    if (!away) return permits;
    permits.forEach((permit) => permit.giveBack());
    throw away.reason;
  }

  private begin(delivery: ClaimedDelivery, permit: Permit): void {
    const attempt = attemptDelivery(this.parts, delivery, this.stopping.signal)
      .then(
        (result) => this.parts.metrics.attempts.inc({ result }),
        // The claim runs out and the delivery is sent again: receivers know it by its id.
        (error: unknown) => this.complain(error),
      )
      .finally(() => {
        permit.release();
        this.underWay.delete(attempt);
        if (!this.isEnding) this.pump().catch((error: unknown) => this.complain(error));
      });
    this.underWay.add(attempt);
  }

  private async count(): Promise<void> {
    const nowMs = this.parts.clock.now();
    if (nowMs - this.countedAtMs < COUNT_EVERY_MS) return;
    this.countedAtMs = nowMs;
    this.parts.metrics.pending.set(await countPending(this.parts.prisma));
  }

  private complain(error: unknown): void {
    // Prisma says what is wrong in the last of its lines.
    const said = (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
    this.complaint.say(`Webhook deliveries wait: ${said}`);
  }
}
