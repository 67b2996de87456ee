import type { Redis } from 'ioredis';
import type { Tx } from '../database/prisma.service';
import { readCounterFigures, readCounterNames } from './counter-figures';
import { readJournalFigures, type JournalFigures } from './journal-figures';
import { meterKey, periodKey, readRawSums, NO_SUMS, type PeriodKey } from './raw-sums';
import type { StoreFigures } from './reconciliation';

/** Gives what the three stores say of one meter. */
export type StoreReading = (tenant: string, periodId: string, meter: string) => StoreFigures;

/**
 * Reads three stores for reconciliations. The journals of the nodes are read once in its life, for the periods they tell of have ended: keep one for a run of
 * closings and no longer. A store that cannot be read holds nobody up.
 */
export class StoreFigureReader {
  private journals: Promise<JournalFigures | undefined> | undefined;

  /** @param tenant the only one that is asked for, where there is one */
  constructor(private readonly redis: Redis, private readonly tenant?: string) {}

  async read(tx: Tx, periods: readonly PeriodKey[]): Promise<StoreReading> {
    this.journals ??= readJournalFigures(this.redis, this.tenant).catch(() => undefined);
    const [ledger, names] = [await readRawSums(tx, periods), await readCounterNames(tx, periods)];
    const [counters, journals] = await Promise.all([readCounterFigures(this.redis, names).catch(() => undefined), this.journals]);
    return (tenant, periodId, meter) => {
      const key = meterKey(tenant, periodId, meter);
      return {
        counters: counters === undefined ? undefined : (counters.get(key) ?? null),
        journals: journals === undefined ? undefined : (journals.byMeter.get(key) ?? null),
        ledger: ledger.get(periodKey({ tenant, periodId }))?.find((row) => row.meter === meter)?.sums ?? NO_SUMS,
      };
    };
  }
}
