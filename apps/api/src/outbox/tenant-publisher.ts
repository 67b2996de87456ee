import { Inject, Injectable, Logger } from '@nestjs/common';
import { parseHead, redisKeys, type Policy } from '@quotaplane/contracts';
import { compile, compileSubjects, PolicyPublisher, type CompiledSubjects } from '@quotaplane/policy';
import type { Redis } from 'ioredis';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { stayAwake } from '../database/stay-awake';
import { writeQuotaDue } from '../quotas/quota-due';
import { tenantPeriods } from '../tenants/tenant-calendar';
import { QuotaBases } from '../ledger/quota-bases';
import { touchPublished } from '../ledger/touch-usage';
import { lockTenants, raiseTenants, type LockedTenant } from './outbox-sql';
import { readHeldPolicies, textOf } from './held-policies';
import { OutboxMetrics } from './outbox-metrics';
import { readPolicyRows, readSubjectOverrides, type TenantPolicyRows } from './policy-rows';
import { policySourceOf } from './policy-source';

/** What a publish did for one tenant; `error` where its policy could not be made, while the others of the page went through. */
export type TenantOutcome =
  | { readonly tenant: string; readonly revision: number; readonly generation: number; readonly position: string | null }
  | { readonly tenant: string; readonly error: string };

export interface PublishOptions {
  readonly changeId?: string;
  /** Leaves alone what the store already holds in full; for republications that no change caused. */
  readonly onlyWhereLacking?: boolean;
  /** A guard asked for them: a policy that is there but cannot be read lacks, too. */
  readonly isDoubted?: boolean;
  /** Redis is another one, or older data came back: counters cannot be believed, so that every tenant begins a new generation on the ledger's figures. */
  readonly isStoreReplaced?: boolean;
}

const PERIODS_BEFORE = 1;
const PERIODS_AFTER = 13;
/** A timeline that ends sooner than this, in ms, is published again. A fresh one reaches 13 periods ahead, so each tenant's turn comes about every two months. */
export const COVER_AHEAD_MS = 330 * 86_400_000;

/**
 * Publishes the current policies of tenants. One transaction holds the tenants' row locks from reading their rows until Redis has the result:
 * revisions grow with what they contain, and a generation is raised exactly once per loss.
 */
@Injectable()
export class TenantPublisher {
  private readonly logger = new Logger(TenantPublisher.name);
  private readonly publisher: PolicyPublisher;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(OutboxMetrics) private readonly metrics: OutboxMetrics,
    @Inject(QuotaBases) private readonly bases: QuotaBases,
  ) {
    this.publisher = new PolicyPublisher({ redis });
  }

  /**
   * @param slugs at most a few hundred; unknown ones are left out of the answer
   * @throws when a store does not answer: nothing is committed, and repeating it is harmless
   */
  publish(slugs: readonly string[], options: PublishOptions = {}): Promise<TenantOutcome[]> {
    return this.prisma.transaction((tx) => this.publishLocked(tx, slugs, options), { timeoutMs: 60_000 });
  }

  private async publishLocked(tx: Tx, slugs: readonly string[], { changeId = '', onlyWhereLacking = false, isDoubted = false, isStoreReplaced = false }: PublishOptions): Promise<TenantOutcome[]> {
    const locked = await lockTenants(tx, slugs);
    if (locked.length === 0) return [];
    const nowMs = await this.storeNowMs();
    const held = await readHeldPolicies(this.redis, locked.map(({ slug }) => slug), isDoubted);
    const due = locked.map((row, index) => this.nextOf(row, held[index]?.head ?? null, isStoreReplaced)).filter(({ row, isCurrent }, index) =>
      !(onlyWhereLacking && isCurrent && isComplete(row, held[index]?.hasPolicy === true, nowMs)));
    const current = locked.filter((row) => !due.some((next) => next.row === row))
      .map(({ slug, revision, generation }): TenantOutcome => ({ tenant: slug, revision, generation, position: null }));
    const rows = await readPolicyRows(tx, due.map(({ row }) => row.slug), { overrides: 'pending', now: new Date(nowMs) });
    const subjects = await readSubjectOverrides(tx, rows.map(({ id }) => id), new Date(nowMs));
    const bySlug = new Map(rows.map((row): [string, TenantPolicyRows] => {
      const own = subjects.get(row.id);
      return [row.tenant, own ? { ...row, subjects: own } : row];
    }));
    await this.raiseBases(tx, due, nowMs);
    const written = await stayAwake(tx, Promise.all(due.map((next) => this.write(tx, next, bySlug.get(next.row.slug), nowMs, changeId))));
    failpoint('publish.after-redis');
    await raiseTenants(tx, written.flatMap(({ raised }) => (raised ? [raised] : [])));
    await touchPublished(tx, written.flatMap(({ raised }) => (raised ? [raised.slug] : [])), new Date(nowMs));
    await writeQuotaDue(tx, rows.filter(({ tenant }) => written.some(({ raised }) => raised?.slug === tenant)), nowMs);
    return [...current, ...written.map(({ outcome }) => outcome)];
  }

  /** Store time in ms; a spec may set it. */
  protected async storeNowMs(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  /** Revision and generation to publish next, above what either store has. A head that is gone or older can only mean that Redis lost data. */
  private nextOf(row: LockedTenant, head: string | null, isStoreReplaced = false): NextPublication {
    const inStore = head === null ? null : parseHead(head);
    const isLost = row.revision > 0 && row.deletedAt === null &&
      (isStoreReplaced || inStore === null || inStore.revision < row.revision || inStore.generation < row.generation);
    if (inStore && (inStore.revision > row.revision || inStore.generation > row.generation)) {
      this.metrics.storeAhead.inc();
      this.logger.error(`Redis is ahead of Postgres for ${row.slug}: head ${head ?? ''}, row ${row.revision}.${row.generation}. ` +
        'A publish was cut off, or Postgres was restored from a backup; the row is raised above it.');
    }
    if (isLost) this.metrics.generationsRaised.inc();
    return {
      row,
      isHeadSeen: inStore !== null,
      isCurrent: row.revision > 0 && !isLost && (row.deletedAt === null ? inStore?.revision === row.revision && inStore.generation === row.generation : head !== null),
      revision: Math.max(row.revision, inStore?.revision ?? 0) + 1,
      generation: Math.max(row.generation, inStore?.generation ?? 0) + (isLost ? 1 : 0),
    };
  }

  /** A quota must not begin at 0 under a new generation: its base is there before its head is. */
  private raiseBases(tx: Tx, due: readonly NextPublication[], nowMs: number): Promise<void> {
    const raised = due.filter(({ row, generation }) => generation > row.generation);
    return this.bases.publishRaised(tx, new Map(raised.map(({ row, generation }) => [row.slug, generation])), nowMs);
  }

  private async write(tx: Tx, next: NextPublication, rows: TenantPolicyRows | undefined, nowMs: number, changeId: string): Promise<Written> {
    const { row: { slug, coveredUntil, deletedAt }, revision, generation } = next;
    if (deletedAt !== null) {
      const { position } = await this.publisher.publishDeleted({ tenant: slug, changeId });
      return { outcome: { tenant: slug, revision, generation, position }, raised: { slug, revision, generation, coveredUntil: coveredUntil ?? new Date(nowMs) } };
    }
    const compiled = this.compile(rows, revision, nowMs);
    if (typeof compiled === 'string') {
      this.logger.error(`The policy of ${slug} cannot be compiled: ${compiled}`);
      return { outcome: { tenant: slug, error: compiled } };
    }
    const { policy } = compiled;
    // Sent right behind each other: the first tells what the second has met, for Redis may have lost the head since it was read.
    const [met, { position }] = await Promise.all([textOf(this.redis, redisKeys.head(slug)), this.publisher.publishTenant({ ...compiled, generation, changeId })]);
    if (met === null && next.isHeadSeen) {
      const again = this.nextOf({ ...next.row, revision, generation }, null);
      await this.raiseBases(tx, [again], nowMs);
      return this.write(tx, again, rows, nowMs, changeId);
    }
    const lastSegment = policy.segments.at(-1);
    return {
      outcome: { tenant: slug, revision, generation, position },
      raised: { slug, revision, generation, coveredUntil: new Date(lastSegment?.untilMs ?? nowMs) },
    };
  }

  private compile(rows: TenantPolicyRows | undefined, revision: number, nowMs: number): string | { readonly policy: Policy; readonly subjects: CompiledSubjects } {
    if (!rows) return 'the tenant is gone';
    try {
      const source = policySourceOf({ ...rows, revision }, tenantPeriods(rows, { nowMs, before: PERIODS_BEFORE, after: PERIODS_AFTER }));
      const subjects = compileSubjects(source);
      return { policy: compile(source, subjects), subjects };
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** Whether a tenant whose head is right needs nothing else: a tombstone stands alone, a policy must be there and reach far enough. */
function isComplete(row: LockedTenant, hasPolicy: boolean, nowMs: number): boolean {
  if (row.deletedAt !== null) return true;
  return hasPolicy && row.coveredUntil !== null && row.coveredUntil.getTime() - nowMs > COVER_AHEAD_MS;
}

interface NextPublication {
  readonly row: LockedTenant;
  readonly isHeadSeen: boolean;
  readonly isCurrent: boolean;
  readonly revision: number;
  readonly generation: number;
}

interface Written {
  readonly outcome: TenantOutcome;
  readonly raised?: { readonly slug: string; readonly revision: number; readonly generation: number; readonly coveredUntil: Date };
}
