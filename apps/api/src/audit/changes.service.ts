import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Actor } from '@quotaplane/contracts';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { actorOf, notFound } from '../http/caller';
import { requestContext } from '../http/request-context';
import { appendEntries, createHeads, lockHeads, MissingHeadError, ownedChains, PLATFORM_CHAIN } from './audit-chain';
import { ChangePoke } from './change-poke';
import type { ChangeTopic } from './change-topic';
import { storeAnswer } from './idempotent-answer';

export { PLATFORM_CHAIN };

/** What was done, told by the work of a change once it has done it. */
export interface ChangeRecord<A extends object> {
  /** What the caller is answered, in the route's response form without `changeId`. */
  readonly answer: A;
  /** `<entity>.<verb>`, such as `override.create`. */
  readonly action: string;
  readonly entity: { readonly type: string; readonly id: string };
  /** Null where the change belongs to no single tenant. */
  readonly tenant?: string | null;
  readonly topics: readonly ChangeTopic[];
  readonly reason?: string | null;
  readonly ticket?: string | null;
  /** JSON values without secrets; null before a creation and after a deletion. */
  readonly before: object | null;
  readonly after: object | null;
}

/** A change's work: makes the change through `tx` and tells what it did. */
export type ChangeWork<A extends object> = (tx: Tx, change: { readonly id: string; readonly at: Date }) => Promise<ChangeRecord<A>>;

/**
 * The one way to change anything. In one Postgres transaction: the audit heads are locked first, in sorted order; then
 * `work` changes its rows; then the audit entry, the outbox row and, where the request carried an Idempotency-Key, the answer
 * are written. Whatever throws leaves nothing behind.
 */
@Injectable()
export class ChangesService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
    @Optional() @Inject(ChangePoke) private readonly worker: ChangePoke | null,
  ) {}

  /**
   * @param chains audit chains the change is written to, usually one: `[tenantSlug]` or `[PLATFORM_CHAIN]`
   * @param options.opens the work creates the tenant of these chains; else a chain that is no tenant's is not_found
   * @returns the work's answer with the `changeId` to ask `/v1/changes/{id}` for
   * @throws {DomainError} whatever `work` refuses; idempotency_running when another send of the same key took over
   */
  async commit<A extends object>(actor: Actor, chains: readonly string[], work: ChangeWork<A>, options: { readonly opens?: boolean } = {}): Promise<A & { changeId: string }> {
    const sorted = [...new Set(chains)].sort();
    const answer = await this.attempt(actor, sorted, work).catch(async (error: unknown) => {
      if (!(error instanceof MissingHeadError)) throw error;
      const owned = options.opens ? sorted : await ownedChains(this.prisma, sorted);
      if (owned.length < sorted.length) throw notFound();
      await createHeads(this.prisma, owned);
      return this.attempt(actor, sorted, work);
    });
    this.worker?.poke(answer.changeId);
    return answer;
  }

  private attempt<A extends object>(actor: Actor, chains: readonly string[], work: ChangeWork<A>): Promise<A & { changeId: string }> {
    return this.prisma.transaction(async (tx) => {
      const heads = await lockHeads(tx, chains);
      const change = { id: randomUUID(), at: new Date(this.clock.now()) };
      const record = await work(tx, change);
      const context = requestContext.getStore();
      await appendEntries(tx, heads, {
        at: change.at,
        actor: actorOf(actor),
        action: record.action,
        entity: record.entity,
        tenant: record.tenant ?? null,
        reason: record.reason ?? null,
        ticket: record.ticket ?? null,
        before: record.before,
        after: record.after,
        changeId: change.id,
        requestId: context?.requestId ?? null,
      });
      await tx.change.create({ data: { id: change.id, topics: record.topics.map((topic) => ({ ...topic })), committedAt: change.at } });
      const answer = { ...record.answer, changeId: change.id };
      if (context?.idempotency) await storeAnswer(tx, context.idempotency, answer);
      return answer;
    });
  }
}
