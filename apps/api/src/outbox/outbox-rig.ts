import { randomUUID } from 'node:crypto';
import { tierContentSchema, type TierContent } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { ChangeTopic } from '../audit/change-topic';
import { readConfig } from '../config/app-config';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { connectRedis } from '../database/redis';
import { LedgerUpdates } from '../ledger/ledger-updates';
import { QuotaBases } from '../ledger/quota-bases';
import { Reconciliation } from '../ledger/reconciliation';
import { ThresholdWatch } from '../ledger/threshold-watch';
import { UsageFold } from '../usage/usage-fold';
import { UsageLedger } from '../usage/usage-ledger';
import { CataloguePublisher } from './catalogue-publisher';
import { ChangeRelay } from './change-relay';
import { KeyPublisher } from './key-publisher';
import { OutboxMetrics } from './outbox-metrics';
import { TenantPublisher } from './tenant-publisher';

/** For specs: the publishing side of a worker over real stores, without its loops. */
export class OutboxRig {
  readonly clock = new Clock();
  readonly metrics = new OutboxMetrics();
  readonly ledger: UsageLedger;
  readonly bases: QuotaBases;
  readonly reconciliation: Reconciliation;
  readonly tenants: TenantPublisher;
  readonly keys: KeyPublisher;
  readonly catalogue: CataloguePublisher;

  private constructor(readonly prisma: PrismaService, readonly redis: Redis) {
    this.ledger = new UsageLedger(prisma, this.clock);
    this.bases = new QuotaBases(prisma, redis, this.ledger);
    this.reconciliation = new Reconciliation(prisma, redis);
    this.tenants = new TenantPublisher(prisma, redis, this.metrics, this.bases);
    this.keys = new KeyPublisher(prisma, redis);
    this.catalogue = new CataloguePublisher(prisma, redis, this.clock);
  }

  static async over(stores: { readonly postgres: { readonly url: string }; readonly redisServer: { readonly url: string } }): Promise<OutboxRig> {
    const config = readConfig({ DATABASE_URL: stores.postgres.url, REDIS_URL: stores.redisServer.url, QUOTAPLANE_DB_POOL: '30' });
    const redis = connectRedis(config.redisUrl);
    await new Promise((resolve) => redis.once('ready', resolve));
    return new OutboxRig(new PrismaService(config), redis);
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    await this.prisma.$disconnect();
  }

  relay(): ChangeRelay {
    return new ChangeRelay(this.prisma, this.tenants, this.keys, this.catalogue, this.metrics);
  }

  updates(): LedgerUpdates {
    return new LedgerUpdates(this.prisma, this.redis, this.bases, new ThresholdWatch(this.prisma, this.ledger, this.clock));
  }

  fold(Fold: typeof UsageFold = UsageFold): UsageFold {
    return new Fold(this.prisma, this.redis, this.metrics, this.updates(), this.reconciliation);
  }

  /** A published tier; by default a bucket of 100 per minute with a burst of 20. */
  async tier(slug: string, content: Partial<TierContent> = {}): Promise<string> {
    const parsed = tierContentSchema.parse({
      limits: [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000, burst: 20 }],
      quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject' }],
      ...content,
    });
    const now = new Date();
    const { id } = await this.prisma.tier.create({
      data: { slug, name: slug, versions: { create: { number: 1, content: parsed, diff: [], effectiveAt: now, publishedAt: now, publishedBy: 'spec' } } },
    });
    return id;
  }

  async tenant(slug: string, tierId: string): Promise<string> {
    const now = new Date();
    const { id } = await this.prisma.tenant.create({
      data: { slug, name: slug, assignments: { create: { tierId, effectiveAt: now, createdAt: now, createdBy: 'spec' } } },
    });
    return id;
  }

  /** An override that raises the burst to `burst`, with its outbox row, in one transaction as the API does it. */
  async override(tenantId: string, slug: string, burst: number): Promise<string> {
    return this.prisma.transaction(async (tx) => {
      const now = new Date();
      await tx.override.create({
        data: {
          tenantId, subject: { scope: 'tenant' }, mode: 'exactly', set: { limits: { 'per-minute': { burst } } }, reason: 'spec',
          from: now, createdAt: now, createdBy: 'spec',
        },
      });
      return OutboxRig.change(tx, [{ kind: 'tenant', slug }]);
    });
  }

  static async change(tx: Pick<PrismaService, 'change'>, topics: readonly ChangeTopic[]): Promise<string> {
    const { id } = await tx.change.create({ data: { id: randomUUID(), topics: topics.map((topic) => ({ ...topic })) } });
    return id;
  }
}
