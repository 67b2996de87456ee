import { MAX_EXACT, MINUTE_STATS_TTL_MS, redisKeys } from '@quotaplane/contracts';
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

/** Allowed and denied calls by tenant and minute, added up over all nodes in Redis. */
export class TrafficLog {
  private counts = new Map<string, number>();
  private readonly loop: FlushLoop;

  constructor(private readonly options: TrafficLogOptions) {
    this.loop = new FlushLoop(() => this.write(), options);
  }

  start(): void {
    this.loop.start();
  }

  allowed(tenant: string, units: number): void {
    this.add(`${tenant}|allowed`, 1);
    if (units > 0) this.add(`${tenant}|units`, units);
  }

  denied(tenant: string, limit: string): void {
    this.add(`${tenant}|denied|${limit}`, 1);
  }

  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  async close(): Promise<void> {
    await this.loop.stop();
    await this.loop.runOnce();
  }

  private add(field: string, count: number): void {
    const known = this.counts.get(field);
    if (known === undefined && this.counts.size >= (this.options.maxEntries ?? 20_000)) this.options.onDropped?.(count);
    else this.counts.set(field, (known ?? 0) + count);
  }

  private async write(): Promise<void> {
    if (this.counts.size === 0) return;
    const taken = this.counts;
    this.counts = new Map();
    const key = redisKeys.traffic(minuteOf(this.options.storeNow()));
    const commands = this.options.redis.pipeline();
    for (const [field, count] of taken) commands.hincrby(key, field, count);
    commands.pexpire(key, MINUTE_STATS_TTL_MS);
    try {
      const replies = await commands.exec();
      const failed = replies?.find(([error]) => error)?.[0];
      if (failed) throw failed;
    } catch (error) {
      // Repeating it could count it twice; what it carried is told instead.
      this.options.onDropped?.([...taken.values()].reduce((sum, count) => sum + count, 0));
      throw error;
    }
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
