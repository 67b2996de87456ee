import { MAX_EXACT, MINUTE_STATS_TTL_MS, redisKeys } from '@quotaplane/contracts';
import { addCounts } from './add-counts';
import { FlushLoop } from './flush-loop';
import { minuteOf, type MinuteLogOptions } from './minute-log';
import type { UsageRedis } from './usage-redis';

export interface TrafficLogOptions extends MinuteLogOptions {
  /** Most distinct counts kept between two flushes; more are dropped. Default 20,000. */
  readonly maxEntries?: number;
}

/** One tenant's minute over all nodes. Statistics for charts, never a bill. */
export interface TrafficMinute {
  readonly tenant: string;
  readonly allowed: number;
  readonly units: number;
  readonly denied: number;
  readonly deniedByLimit: Readonly<Record<string, number>>;
}

/** What one tenant's calls counted since the last flush; a limit's name is not repeated for each denial. */
interface TenantCounts {
  allowed: number;
  units: number;
  readonly denied: Map<string, number>;
}

/** Allowed and denied calls by tenant and minute, added up over all nodes in Redis. */
export class TrafficLog {
  /** Kept over the flushes, for most tenants come again; one that did not is forgotten at the next flush. */
  private readonly byTenant = new Map<string, TenantCounts>();
  /** Distinct counts since the last flush. */
  private size = 0;
  private readonly loop: FlushLoop;
  private readonly maxEntries: number;

  constructor(private readonly options: TrafficLogOptions) {
    this.maxEntries = options.maxEntries ?? 20_000;
    this.loop = new FlushLoop(() => this.write(), options);
  }

  start(): void {
    this.loop.start();
  }

  allowed(tenant: string, units: number): void {
    const counts = this.countsOf(tenant);
    if (counts === undefined) return this.options.onDropped?.(1 + units);
    if (counts.allowed === 0 && this.isFull()) this.options.onDropped?.(1);
    else if ((counts.allowed += 1) === 1) this.size += 1;
    if (units === 0) return;
    if (counts.units === 0 && this.isFull()) return this.options.onDropped?.(units);
    if (counts.units === 0) this.size += 1;
    counts.units += units;
  }

  denied(tenant: string, limit: string): void {
    const denied = this.countsOf(tenant)?.denied;
    const known = denied?.get(limit);
    if (denied === undefined || known === undefined && this.isFull()) return this.options.onDropped?.(1);
    if (known === undefined) this.size += 1;
    denied.set(limit, (known ?? 0) + 1);
  }

  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  async close(): Promise<void> {
    await this.loop.stop();
    await this.loop.runOnce();
  }

  private isFull(): boolean {
    return this.size >= this.maxEntries;
  }

  /** Undefined where there is no room for one more tenant. */
  private countsOf(tenant: string): TenantCounts | undefined {
    const known = this.byTenant.get(tenant);
    if (known !== undefined || this.isFull()) return known;
    const counts: TenantCounts = { allowed: 0, units: 0, denied: new Map() };
    this.byTenant.set(tenant, counts);
    return counts;
  }

  /** Everything since the last flush, as Redis keeps it. */
  private take(): [field: string, count: number][] {
    const taken: [string, number][] = [];
    for (const [tenant, counts] of this.byTenant) {
      const { allowed, units, denied } = counts;
      if (allowed > 0) taken.push([`${tenant}|allowed`, allowed]);
      if (units > 0) taken.push([`${tenant}|units`, units]);
      for (const [limit, count] of denied) taken.push([`${tenant}|denied|${limit}`, count]);
      if (allowed === 0 && denied.size === 0) this.byTenant.delete(tenant);
      counts.allowed = counts.units = 0;
      if (denied.size > 0) denied.clear();
    }
    this.size = 0;
    return taken;
  }

  private async write(): Promise<void> {
    const taken = this.take();
    if (taken.length === 0) return;
    const { redis, storeNow, onDropped } = this.options;
    await addCounts(redis, redisKeys.traffic(minuteOf(storeNow())), taken, MINUTE_STATS_TTL_MS, (count) => onDropped?.(count));
  }
}

/** What all nodes counted in one minute, by tenant. */
export const readTrafficMinute = async (redis: UsageRedis, minuteEpoch: number): Promise<TrafficMinute[]> => {
  const byTenant = new Map<string, { tenant: string; allowed: number; units: number; denied: number; deniedByLimit: Record<string, number> }>();
  for (const [field, text] of Object.entries(await redis.hgetall(redisKeys.traffic(minuteEpoch)))) {
    const [tenant = '', kind, limit] = field.split('|');
    const row = byTenant.get(tenant) ?? { tenant, allowed: 0, units: 0, denied: 0, deniedByLimit: {} };
    // Statistics: what is no exact number is drawn at the end of the scale, or not at all.
    const count = Math.min(Number(text) || 0, MAX_EXACT);
    if (kind === 'allowed') row.allowed += count;
    if (kind === 'units') row.units += count;
    if (kind === 'denied') {
      row.denied += count;
      if (limit) row.deniedByLimit[limit] = (row.deniedByLimit[limit] ?? 0) + count;
    }
    byTenant.set(tenant, row);
  }
  return [...byTenant.values()].sort((a, b) => (a.tenant < b.tenant ? -1 : 1));
};
