import { Inject, Injectable } from '@nestjs/common';
import type { OverrideEnding, TenantLimited } from '@quotaplane/contracts';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { selectEndingOverrides, selectLimitedTenants, type LimitedTenant } from './event-sources-sql';
import { recordEvents } from './record-events';

/** How long before its end an override is announced; a shorter one is announced at once. */
export const ENDING_NOTICE_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** A worker that starts looks at the hour before, too, for this long: nobody may have looked at its last minutes. */
const LATE_MS = 20 * 60_000;
/** Minutes are folded a little late. */
const FOLDED_WITHIN_MS = 5 * 60_000;
const BATCH = 500;

/** Notices what nobody does: an override that is about to end, a tenant that is being limited. Safe to repeat, and for several workers at once. */
@Injectable()
export class EventSweep {
  private lookedAtMs: number | undefined;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  async run(): Promise<void> {
    const nowMs = this.clock.now();
    while ((await this.recordEndings()) === BATCH);
    const from = this.lookedAtMs === undefined ? Math.floor((nowMs - LATE_MS) / HOUR_MS) * HOUR_MS : this.lookedAtMs - FOLDED_WITHIN_MS;
    while ((await this.recordLimited(new Date(from))) === BATCH);
    this.lookedAtMs = nowMs;
  }

  /** @returns overrides found */
  private recordEndings(): Promise<number> {
    const now = new Date(this.clock.now());
    return this.prisma.transaction(async (tx) => {
      const ending = await selectEndingOverrides(tx, { now, horizon: new Date(now.getTime() + ENDING_NOTICE_MS), limit: BATCH });
      await recordEvents(tx, ending.map(({ id, tenant, until, reason }) => {
        const data: OverrideEnding = { tenant, overrideId: id, until: until.toISOString(), reason };
        return { type: 'override.ending', tenant, dedupeKey: `ending|${id}|${until.toISOString()}`, at: now, data };
      }));
      return ending.length;
    });
  }

  /** @returns tenants found */
  private recordLimited(from: Date): Promise<number> {
    const now = new Date(this.clock.now());
    return this.prisma.transaction(async (tx) => {
      const limited = await selectLimitedTenants(tx, from, BATCH);
      await recordEvents(tx, limited.map((found) => {
        const data = limitedData(found);
        return { type: 'tenant.limited', tenant: found.tenant, dedupeKey: `limited|${found.tenant}|${data.hour.slice(0, 13)}`, at: now, data };
      }));
      return limited.length;
    });
  }
}

function limitedData({ tenant, hour, denied, limits }: LimitedTenant): TenantLimited {
  const named = Object.entries(limits).map(([name, count]) => ({ name, denied: Number(count) }));
  return { tenant, hour: hour.toISOString(), denied: Number(denied), limits: named.sort((a, b) => b.denied - a.denied || (a.name < b.name ? -1 : 1)) };
}
