import { Inject, Injectable, Logger } from '@nestjs/common';
import { PolicyPublisher, Wanted, type WantedMember } from '@quotaplane/policy';
import type { Redis } from 'ioredis';
import { REDIS } from '../database/redis';
import { CataloguePublisher } from './catalogue-publisher';
import { KeyPublisher } from './key-publisher';
import { PollingLoop, RepeatedMessage } from './polling-loop';
import { TenantPublisher } from './tenant-publisher';

const EVERY_MS = 50;
const AFTER_ERROR_MS = 250;
const BATCH = 200;

/** Serves first what guards miss: a policy, an answer "unknown", a key or its tombstone, the documents. */
@Injectable()
export class WantedServer {
  private readonly logger = new Logger(WantedServer.name);
  private readonly complaint = new RepeatedMessage((message) => this.logger.warn(message));
  private readonly wanted: Wanted;
  private readonly publisher: PolicyPublisher;
  private readonly loop = new PollingLoop(() => this.serveAll(), {
    everyMs: EVERY_MS,
    afterErrorMs: AFTER_ERROR_MS,
    onError: (error) => this.complaint.say(`Wanted policies wait: ${error.message}`),
  });

  constructor(
    @Inject(REDIS) redis: Redis,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(KeyPublisher) private readonly keys: KeyPublisher,
    @Inject(CataloguePublisher) private readonly catalogue: CataloguePublisher,
  ) {
    this.wanted = new Wanted({ redis });
    this.publisher = new PolicyPublisher({ redis });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Serves until nothing is wanted. What a failure leaves unserved is asked for again by the next call that misses it. */
  async serveAll(): Promise<void> {
    for (let taken = BATCH; taken === BATCH;) {
      const members = await this.wanted.take(BATCH);
      taken = members.length;
      if (taken > 0) await this.serve(members);
    }
    this.complaint.forget();
  }

  private async serve(members: readonly WantedMember[]): Promise<void> {
    const named = (prefix: 'tenant:' | 'key:'): string[] =>
      members.filter((member) => member.startsWith(prefix)).map((member) => member.slice(prefix.length));
    const slugs = named('tenant:');
    const hashes = named('key:');
    const work: Promise<unknown>[] = [];
    if (slugs.length > 0) work.push(this.serveTenants(slugs));
    if (hashes.length > 0) work.push(this.keys.publish(hashes));
    if (members.includes('classes')) work.push(this.catalogue.publishClasses());
    if (members.includes('lists')) work.push(this.catalogue.publishLists());
    if (members.includes('fallback')) work.push(this.catalogue.publishFallback());
    const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async serveTenants(slugs: readonly string[]): Promise<void> {
    const known = await this.tenants.publish(slugs, { onlyWhereLacking: true, isDoubted: true });
    const unknown = slugs.filter((slug) => !known.some(({ tenant }) => tenant === slug));
    await Promise.all(unknown.map((slug) => this.publisher.answerUnknown(slug)));
  }
}
