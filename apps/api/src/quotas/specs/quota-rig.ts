import { randomUUID } from 'node:crypto';
import { parseHead, redisKeys, type CompiledQuota, type Policy, type Quota, type Segment } from '@quotaplane/contracts';
import { segmentAt } from '@quotaplane/policy';
import { connectLimitRedis, quotaKeys, RedisLimitStore } from '@quotaplane/rate-limit';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../../http/spec-app';
import { ChangeRelay } from '../../outbox/change-relay';
import { OutboxRig } from '../../outbox/outbox-rig';
import { TenantPublisher } from '../../outbox/tenant-publisher';
import { UsageLedger } from '../../usage/usage-ledger';
import { QuotaSweep } from '../quota-sweep';

/** Publishes by a clock that is set. */
class SpecPublisher extends TenantPublisher {
  clock = new TestClock();

  protected override storeNowMs(): Promise<number> {
    return Promise.resolve(this.clock.now());
  }
}

/** For specs: API, worker and guards' store by one clock that is set, over real stores. */
export class QuotaRig {
  readonly ledger: UsageLedger;
  readonly tenants: SpecPublisher;
  private readonly store: RedisLimitStore;
  private readonly limitRedis: ReturnType<typeof connectLimitRedis>;

  private constructor(
    readonly clock: TestClock, private readonly postgres: TestPostgres, private readonly redisServer: TestRedis, readonly outbox: OutboxRig, readonly api: SpecApp,
  ) {
    this.ledger = new UsageLedger(outbox.prisma, clock);
    this.tenants = new SpecPublisher(outbox.prisma, outbox.redis, outbox.metrics, outbox.bases);
    this.tenants.clock = clock;
    this.limitRedis = connectLimitRedis(redisServer.url);
    this.store = new RedisLimitStore({ redis: this.limitRedis, incarnation: randomUUID(), testClock: clock.now });
  }

  static async start(nowMs: number): Promise<QuotaRig> {
    const [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
    const clock = new TestClock(nowMs);
    const outbox = await OutboxRig.over({ postgres, redisServer });
    const api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url }, { clock });
    return new QuotaRig(clock, postgres, redisServer, outbox, api);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.store.close();
    this.limitRedis.disconnect();
    await this.outbox.stop();
    await Promise.all([this.postgres.stop(), this.redisServer.stop()]);
  }

  get prisma() {
    return this.outbox.prisma;
  }

  /** A worker's sweep; several of them share nothing but the stores. */
  sweep(): QuotaSweep {
    return new QuotaSweep(this.prisma, this.tenants, this.ledger, this.clock);
  }

  /** Publishes what was committed, as the worker does within milliseconds. */
  async relay(): Promise<void> {
    await new ChangeRelay(this.prisma, this.tenants, this.outbox.keys, this.outbox.catalogue, this.outbox.metrics).drain();
  }

  /** A published tier. */
  async tier(slug: string, ...quotas: (Partial<Quota> & { readonly allowance: number | null })[]): Promise<void> {
    await this.api.call('POST', '/v1/tiers', { body: { slug, name: slug } });
    await this.version(slug, ...quotas);
  }

  async version(slug: string, ...quotas: (Partial<Quota> & { readonly allowance: number | null })[]): Promise<void> {
    const { body } = await this.api.call('GET', `/v1/tiers/${slug}/draft`);
    const content = { limits: [], quotas: quotas.map((quota) => ({ meter: 'requests', overage: 'reject', ...quota })) };
    const put = await this.api.call('PUT', `/v1/tiers/${slug}/draft`, { ifMatch: body.version ?? 0, body: content });
    if (put.status !== 200) throw new SpecSetupError(put.text);
    await this.api.call('POST', `/v1/tiers/${slug}/publish`, { body: {} });
    await this.relay();
  }

  async tenant(slug: string, tier: string, more: object = {}): Promise<void> {
    const made = await this.api.call('POST', '/v1/tenants', { body: { slug, name: slug, tier, ...more } });
    if (made.status !== 201) throw new SpecSetupError(made.text);
    await this.relay();
  }

  topUp(slug: string, body: object): Promise<SpecAnswer> {
    return this.api.call('POST', `/v1/tenants/${slug}/top-ups`, { body: { meter: 'requests', reason: 'spec grant', ...body } });
  }

  /** The segment that guards run now. */
  async segment(slug: string): Promise<Segment> {
    const policy = JSON.parse((await this.outbox.redis.get(redisKeys.policy(slug))) ?? 'null') as Policy | null;
    const segment = policy && segmentAt(policy, this.clock.now());
    if (!segment) throw new SpecSetupError(`no segment of ${slug}`);
    return segment;
  }

  async quota(slug: string, meter = 'requests'): Promise<CompiledQuota | undefined> {
    return (await this.segment(slug)).quotas.find((quota) => quota.meter === meter);
  }

  /** One call of so many units, judged by the store as a guard has it judged, journaled and folded. @returns what is left, or null when it was denied */
  async call(slug: string, units: number, meter = 'requests'): Promise<number | null> {
    const [segment, head] = [await this.segment(slug), (await this.outbox.redis.get(redisKeys.head(slug))) ?? ''];
    const quota = segment.quotas.find((candidate) => candidate.meter === meter);
    const generation = parseHead(head)?.generation ?? 1;
    if (!quota) throw new SpecSetupError(`no quota ${meter}`);
    const { part, period } = segment;
    const verdict = await this.store.judgeAndSpend({
      tenant: slug, knownHead: head, fromMs: segment.fromMs, untilMs: segment.untilMs, subjectFields: [],
      charges: [{
        kind: 'quota', ...quotaKeys({ tenant: slug, meter, periodId: period.id, part, generation }), allowance: quota.allowance, overage: quota.overage,
        periodEndMs: period.endMs, cost: units, ...(quota.ceiling === undefined ? {} : { ceiling: quota.ceiling }),
      }],
    }, performance.now() + 10_000);
    if (verdict.status !== 'allowed' && verdict.status !== 'denied') throw new SpecSetupError(JSON.stringify(verdict));
    if (verdict.status === 'denied') return null;
    await this.journal({ tenant: slug, meter, periodId: period.id, part, generation }, units);
    return verdict.states[0]?.remaining ?? null;
  }

  /** As folded: `usage_journals` of one node. */
  async journal(name: { tenant: string; meter: string; periodId: string; part: number; generation: number }, units: number): Promise<void> {
    const key = { ...name, class: 'default', incarnation: 'spec' };
    await this.prisma.usageJournal.upsert({
      where: { tenant_periodId_meter_part_class_generation_incarnation: key },
      create: { ...key, admitted: BigInt(units) },
      update: { admitted: { increment: BigInt(units) } },
    });
  }
}

class SpecSetupError extends Error {
  override readonly name = 'SpecSetupError';
}
