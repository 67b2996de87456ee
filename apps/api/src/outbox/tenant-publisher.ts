import { Inject, Injectable, Logger } from '@nestjs/common';
import { parseHead } from '@quotaplane/contracts';
import { PolicyPublisher } from '@quotaplane/policy';
import type { Redis } from 'ioredis';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { stayAwake } from '../database/stay-awake';
import { writeQuotaDue } from '../quotas/quota-due';
import { QuotaBases } from '../ledger/quota-bases';
import { touchPublished } from '../ledger/touch-usage';
import { lockTenants, raiseTenants, recordRevisions, type LockedTenant } from './outbox-sql';
import { readHeldPolicies } from './held-policies';
import { OutboxMetrics } from './outbox-metrics';
import { PolicyCompiler, type CompiledTenant } from './policy-compiler';
import { readPolicyRows, readSubjectOverrides, type TenantPolicyRows } from './policy-rows';

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
  /** Writes down, together with the revisions, that they hold the change: whoever publishes the rest of a tier later leaves these out. */
  readonly isRecorded?: boolean;
}

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

  private async publishLocked(tx: Tx, slugs: readonly string[], { changeId = '', onlyWhereLacking = false, isDoubted = false, isStoreReplaced = false, isRecorded = false }: PublishOptions): Promise<TenantOutcome[]> {
    const locked = await lockTenants(tx, slugs);
    if (locked.length === 0) return [];
    const nowMs = await this.storeNowMs();
    const check = isDoubted ? 'doubt' : onlyWhereLacking ? 'presence' : 'none';
    const held = await readHeldPolicies(this.redis, locked.map(({ slug }) => slug), check);
    const due = locked.map((row, index) => this.nextOf(row, held[index]?.head ?? null, isStoreReplaced)).filter(({ row, isCurrent }, index) =>
      !(onlyWhereLacking && isCurrent && isComplete(row, held[index]?.hasPolicy === true, nowMs)));
    const dueSlugs = new Set(due.map(({ row }) => row.slug));
    const current = locked.filter(({ slug }) => !dueSlugs.has(slug))
      .map(({ slug, revision, generation }): TenantOutcome => ({ tenant: slug, revision, generation, position: null }));
    const rows = await readPolicyRows(tx, due.map(({ row }) => row.slug), { overrides: 'pending', now: new Date(nowMs) });
    const subjects = await readSubjectOverrides(tx, rows.map(({ id }) => id), new Date(nowMs));
    const bySlug = new Map(rows.map((row): [string, TenantPolicyRows] => {
      const own = subjects.get(row.id);
      return [row.tenant, own ? { ...row, subjects: own } : row];
    }));
    await this.raiseBases(tx, due, nowMs);
    const written = await stayAwake(tx, this.write(tx, due, bySlug, nowMs, changeId));
    failpoint('publish.after-redis');
    const raised = written.flatMap((one) => (one.raised ? [one.raised] : []));
    const raisedSlugs = new Set(raised.map(({ slug }) => slug));
    await raiseTenants(tx, raised);
    if (isRecorded) await recordRevisions(tx, raised.map(({ slug, revision }) => ({ changeId, tenant: slug, revision })));
    await touchPublished(tx, [...raisedSlugs], new Date(nowMs));
    await writeQuotaDue(tx, rows.filter(({ tenant }) => raisedSlugs.has(tenant)), nowMs);
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

  /** @returns in no particular order */
  private async write(tx: Tx, due: readonly NextPublication[], rows: ReadonlyMap<string, TenantPolicyRows>, nowMs: number, changeId: string): Promise<Written[]> {
    const compiler = new PolicyCompiler(nowMs);
    const written = await Promise.all(due.filter(({ row }) => row.deletedAt !== null).map((next) => this.writeDeleted(next, nowMs, changeId)));
    const made: { readonly next: NextPublication; readonly compiled: CompiledTenant }[] = [];
    for (const next of due.filter(({ row }) => row.deletedAt === null)) {
      const compiled = this.compile(compiler, rows.get(next.row.slug), next.revision);
      if (typeof compiled !== 'string') {
        made.push({ next, compiled });
        continue;
      }
      this.logger.error(`The policy of ${next.row.slug} cannot be compiled: ${compiled}`);
      written.push({ outcome: { tenant: next.row.slug, error: compiled } });
    }
    const published = await this.publisher.publishTenants(made.map(({ next, compiled }) => ({ ...compiled, generation: next.generation, changeId })));
    const lost: NextPublication[] = [];
    made.forEach(({ next, compiled }, index) => {
      const { row: { slug }, revision, generation, isHeadSeen } = next;
      const { headMet = null, position = '' } = published[index] ?? {};
      // Redis has lost the head since it was read.
      if (headMet === null && isHeadSeen) return void lost.push(this.nextOf({ ...next.row, revision, generation }, null));
      const coveredUntil = new Date(compiled.policy.segments.at(-1)?.untilMs ?? nowMs);
      written.push({ outcome: { tenant: slug, revision, generation, position }, raised: { slug, revision, generation, coveredUntil } });
    });
    if (lost.length === 0) return written;
    await this.raiseBases(tx, lost, nowMs);
    return [...written, ...(await this.write(tx, lost, rows, nowMs, changeId))];
  }

  private async writeDeleted({ row: { slug, coveredUntil }, revision, generation }: NextPublication, nowMs: number, changeId: string): Promise<Written> {
    const { position } = await this.publisher.publishDeleted({ tenant: slug, changeId });
    return { outcome: { tenant: slug, revision, generation, position }, raised: { slug, revision, generation, coveredUntil: coveredUntil ?? new Date(nowMs) } };
  }

  private compile(compiler: PolicyCompiler, rows: TenantPolicyRows | undefined, revision: number): string | CompiledTenant {
    if (!rows) return 'the tenant is gone';
    try {
      return compiler.compile(rows, revision);
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
