import { Inject, Injectable, Logger } from '@nestjs/common';
import { redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { CataloguePublisher } from './catalogue-publisher';
import { KeyPublisher } from './key-publisher';
import { keyPage, tenantPage } from './outbox-sql';
import { removeForeignTypes } from './platform-keys';
import { PollingLoop, RepeatedMessage } from './polling-loop';
import { SweepSchedule } from './sweep-schedule';
import { TenantPublisher } from './tenant-publisher';

const EVERY_MS = 1_000;
const AFTER_ERROR_MS = 250;
const TENANTS_PER_PAGE = 100;
const KEYS_PER_PAGE = 1_000;

interface Identity {
  readonly runId: string;
  readonly replicationId: string;
}

/**
 * Notices within a second that Redis is another one, or the same with its data gone, and puts everything back that it lacks:
 * schedules, documents, key index, and every tenant's head, of which the lost ones get a new generation.
 */
@Injectable()
export class StoreWatch {
  private readonly logger = new Logger(StoreWatch.name);
  private readonly complaint = new RepeatedMessage((message) => this.logger.warn(message));
  private readonly loop = new PollingLoop(() => this.check(), {
    everyMs: EVERY_MS,
    afterErrorMs: AFTER_ERROR_MS,
    onError: (error) => this.complaint.say(`Redis cannot be watched: ${error.message}`),
  });

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(KeyPublisher) private readonly keys: KeyPublisher,
    @Inject(CataloguePublisher) private readonly catalogue: CataloguePublisher,
    @Inject(SweepSchedule) private readonly schedule: SweepSchedule,
  ) {}

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** One look; recovers where needed. */
  async check(): Promise<void> {
    const identity = await this.identity();
    const foreign = await removeForeignTypes(this.redis);
    if (foreign.length > 0) this.logger.error(`Removed what was no key of ours, by its type: ${foreign.join(', ')}`);
    await this.schedule.ensure();
    const known = await this.prisma.storeIdentity.findUnique({ where: { id: 1 } });
    const isSame = known?.runId === identity.runId && known.replicationId === identity.replicationId;
    if (!isSame || !(await this.hasLandmarks())) await this.recover(identity, known !== null && known.runId !== '' && !isSame);
    this.complaint.forget();
  }

  private async identity(): Promise<Identity> {
    const [server, replication] = await Promise.all([this.redis.info('server'), this.redis.info('replication')]);
    const field = (text: string, name: string): string => new RegExp(`^${name}:(\\w+)`, 'm').exec(text)?.[1] ?? '';
    return { runId: field(server, 'run_id'), replicationId: field(replication, 'master_replid') };
  }

  /** Whether keys that are always there are there: a flushed Redis keeps its identity. */
  private async hasLandmarks(): Promise<boolean> {
    const [hasClasses, published, head] = await Promise.all([
      this.redis.exists(redisKeys.classes),
      this.prisma.tenant.findFirst({ where: { slug: 'platform', revision: { gt: 0 } }, select: { slug: true } }),
      this.redis.exists(redisKeys.head('platform')),
    ]);
    return hasClasses === 1 && (published === null || head === 1);
  }

  /** One worker at a time; the others have nothing left to do when their turn would come. */
  private async recover(identity: Identity, isStoreReplaced: boolean): Promise<void> {
    await this.prisma.storeIdentity.createMany({ data: [{ id: 1, runId: '', replicationId: '', seenAt: new Date() }], skipDuplicates: true });
    await this.prisma.transaction(async (tx) => {
      const turn = await tx.$queryRaw<unknown[]>`SELECT id FROM store_identity WHERE id = 1 FOR NO KEY UPDATE SKIP LOCKED`;
      if (turn.length === 0) return;
      const startedAt = performance.now();
      await Promise.all([this.catalogue.publishClasses(), this.catalogue.publishFallback(), this.catalogue.publishLists()]);
      const tenants = await this.eachPage(tx, tenantPage, TENANTS_PER_PAGE, (slugs) => this.tenants.publish(slugs, { onlyWhereLacking: true, isStoreReplaced }));
      const keys = await this.eachPage(tx, keyPage, KEYS_PER_PAGE, (hashes) => this.keys.publish(hashes));
      await tx.storeIdentity.update({ where: { id: 1 }, data: { ...identity, seenAt: new Date() } });
      this.logger.log(`Redis ${identity.runId.slice(0, 8)} has ${tenants} tenants and ${keys} keys again, after ${Math.round(performance.now() - startedAt)} ms`);
    }, { timeoutMs: 600_000 });
  }

  private async eachPage(
    tx: Tx,
    read: (tx: Tx, after: string, limit: number) => Promise<string[]>,
    limit: number,
    publish: (page: readonly string[]) => Promise<unknown>,
  ): Promise<number> {
    let count = 0;
    for (let after = ''; ;) {
      const page = await read(tx, after, limit);
      if (page.length === 0) return count;
      await publish(page);
      count += page.length;
      after = page.at(-1) ?? after;
    }
  }
}
