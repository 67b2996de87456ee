import type { UsageRecordResult } from '@quotaplane/contracts';
import { failpoint } from '../config/failpoints';
import type { Tx } from '../database/prisma.service';
import { touchUsage } from '../ledger/touch-usage';
import { refuse, type SentRecord } from './record-items';
import { partAt, PeriodFinder, readRecordTenants, type RecordPeriod } from './record-periods';
import { additionsOf, beyondExact, sumKeysOf } from './record-sums';
import { addSums, claimIds, forgetIds, identityKey, insertPeriods, insertRecords, lockPeriods, readRecordedPeriods, readSums, type RecordKind, type RecordRow } from './records-sql';

/** Counts the valid records of one request, within its transaction. */
export class RecordBatch {
  constructor(private readonly tx: Tx, private readonly receivedAt: Date) {}

  /** @returns a result for each record, in no order */
  async count(sent: readonly SentRecord[]): Promise<UsageRecordResult[]> {
    const firsts = new Map<string, SentRecord>();
    for (const item of sent) if (!firsts.has(identityKey(item.record))) firsts.set(identityKey(item.record), item);
    const results = new Map((await this.countOnce([...firsts.values()])).map((result) => [result.index, result]));
    return sent.flatMap((item) => {
      const first = firsts.get(identityKey(item.record));
      const result = first && results.get(first.index);
      if (!result) return [];
      if (first === item) return [result];
      return [result.status === 'refused' ? { ...result, index: item.index } : resultOf(item, 'duplicate')];
    });
  }

  private async countOnce(sent: readonly SentRecord[]): Promise<UsageRecordResult[]> {
    if (sent.length === 0) return [];
    const rows = await this.rowsOf(sent);
    const kinds = new Map(rows.map(({ index, kind }) => [index, kind]));
    const claimed = await claimIds(this.tx, rows, this.receivedAt);
    failpoint('records.after-ids');
    const fresh = rows.filter(({ index }) => claimed.has(index));
    const beyond = beyondExact(fresh, await readSums(this.tx, sumKeysOf(fresh)));
    if (beyond.size > 0) await forgetIds(this.tx, fresh.filter(({ index }) => beyond.has(index)));
    const written = await insertRecords(this.tx, fresh.filter(({ index }) => !beyond.has(index)), this.receivedAt);
    const counted = fresh.filter(({ index }) => written.has(index));
    await addSums(this.tx, additionsOf(counted));
    await touchUsage(this.tx, counted);
    return sent.map((item) => {
      const kind = kinds.get(item.index);
      // Deleted since the request was looked through.
      if (!kind) return refuse(item.record, item.index, 'not_found', item.pointerTo('tenant'), 'is not a tenant');
      if (beyond.has(item.index)) return refuse(item.record, item.index, 'invalid', item.pointerTo('units'), 'would take the total of the period past 9007199254740991');
      return resultOf(item, !written.has(item.index) ? 'duplicate' : kind === 'adjustment' ? 'adjusted' : 'counted');
    });
  }

  /** Finds periods and parts, and holds the periods open, or sees that they are closed, up to the commit. */
  private async rowsOf(sent: readonly SentRecord[]): Promise<RecordRow[]> {
    const tenants = await readRecordTenants(this.tx, [...new Set(sent.map(({ record }) => record.tenant))]);
    const instants = sent.map(({ at }) => at.getTime());
    const recorded = await readRecordedPeriods(this.tx, [...tenants.keys()], new Date(Math.min(...instants)), new Date(Math.max(...instants)));
    const finder = new PeriodFinder(recorded);
    const placed = sent.flatMap((item) => {
      const tenant = tenants.get(item.record.tenant);
      if (!tenant) return [];
      const period = finder.periodAt(tenant, item.at);
      return [{ item, period, part: partAt(tenant, period, item.at) }];
    });
    const periods = [...new Set(placed.map(({ period }) => period))];
    await insertPeriods(this.tx, periods.filter((period) => !recorded.includes(period)));
    const closed = await lockPeriods(this.tx, periods);
    return placed.map(({ item: { index, record, at }, period, part }) => ({
      index, tenant: record.tenant, source: record.source, id: record.id, periodId: period.periodId, meter: record.meter, part, at,
      units: BigInt(record.units), reason: record.reason ?? null,
      kind: kindOf(record.units, period, closed.has(`${period.tenant}|${period.periodId}`), this.receivedAt),
    }));
  }
}

const kindOf = (units: number, { endAt }: RecordPeriod, isClosed: boolean, receivedAt: Date): RecordKind => {
  if (isClosed) return 'adjustment';
  if (units < 0) return 'correction';
  return receivedAt < endAt ? 'external' : 'late';
};

const resultOf = ({ index, record: { source, id } }: SentRecord, status: UsageRecordResult['status']): UsageRecordResult => ({ index, source, id, status });
