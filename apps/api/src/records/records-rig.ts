import { randomUUID } from 'node:crypto';
import type { UsageRecord, UsageRecordResult } from '@quotaplane/contracts';
import type { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp, type SpecRequest } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';

/** In the middle of May by every zone. */
export const NOW_MS = Date.UTC(2026, 4, 20, 12);
export const DAY_MS = 86_400_000;

/** What specs read of an answer. */
export interface RecordsAnswer {
  readonly status: number;
  readonly counts: readonly [counted: unknown, duplicates: unknown, refused: unknown];
  readonly items: readonly UsageRecordResult[];
  readonly statuses: readonly string[];
  readonly body: SpecAnswer['body'];
}

type SetClock = Clock & { set(toMs: number): void };

interface Stores {
  readonly postgres: { readonly url: string };
  readonly redisServer: { readonly url: string };
}

/** For specs: the whole HTTP process over real stores, at a set time, with the tenants acme and hobby. */
export class RecordsRig {
  private constructor(readonly rig: OutboxRig, readonly api: SpecApp, readonly clock: SetClock) {}

  static async over(stores: Stores, clock: SetClock): Promise<RecordsRig> {
    clock.set(NOW_MS);
    const rig = await OutboxRig.over(stores);
    const api = await startSpecApp({ databaseUrl: stores.postgres.url, redisUrl: stores.redisServer.url }, { clock });
    const tier = await rig.tier('free');
    for (const slug of ['acme', 'hobby']) await rig.tenant(slug, tier);
    return new RecordsRig(rig, api, clock);
  }

  get prisma(): PrismaService {
    return this.api.app.get(PrismaService);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.rig.stop();
  }

  async forgetAll(): Promise<void> {
    this.clock.set(NOW_MS);
    await this.prisma.$executeRaw`TRUNCATE usage_record_ids, usage_records, usage_external, usage_touches, usage_periods`;
  }

  /** A valid record of a second ago; a new one each time. */
  record(part: Partial<UsageRecord> = {}): UsageRecord {
    return { source: 'billing', id: randomUUID(), tenant: 'acme', meter: 'requests', units: 1, at: new Date(this.clock.now() - 1_000).toISOString(), ...part };
  }

  async post(body: unknown, request: SpecRequest = {}): Promise<RecordsAnswer> {
    const answer = await this.api.call('POST', '/v1/usage/records', { body, ...request });
    const items = (answer.body.items ?? []) as unknown as UsageRecordResult[];
    const { counted, duplicates, refused } = answer.body;
    return { status: answer.status, counts: [counted, duplicates, refused], items, statuses: items.map(({ status }) => status), body: answer.body };
  }

  /** Sums in `usage_external`: `tenant period meter part: external late corrections adjusted`. */
  async sums(): Promise<string[]> {
    const rows = await this.prisma.usageExternal.findMany({ orderBy: [{ tenant: 'asc' }, { periodId: 'asc' }, { meter: 'asc' }, { part: 'asc' }] });
    return rows.map((row) => `${row.tenant} ${row.periodId} ${row.meter} ${row.part}: ${row.external} ${row.late} ${row.corrections} ${row.adjusted}`);
  }
}
