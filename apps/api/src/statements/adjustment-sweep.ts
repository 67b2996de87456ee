import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { readPolicyRows } from '../outbox/policy-rows';
import { UsageLedger } from '../usage/usage-ledger';
import { claimNotes, dropNotes, readLateRecords } from './adjustment-sql';
import { dueAdjustments, growthOf, type ClosedMeter, type DueAdjustment } from './due-adjustments';
import { meterKey, NO_SUMS, periodKey, readRawSums, type PeriodKey } from './raw-sums';
import { adjustmentHash, type AdjustmentContent } from './statement-hash';
import { readableLines, storedStatement, type StoredStatement } from './stored-statement';

const NOTES_PER_BATCH = 100;
const BATCH_LIMIT_MS = 60_000;
const NO_RECORDS = { added: 0n, corrected: 0n, reasons: [] };

/**
 * Adds to statements what was counted in their periods after closing: journals of a node that came back, records and corrections, recovered units. Works along
 * the notes that triggers leave with every write to an ended period, and compares with what stands, so that a repeat adds nothing.
 */
@Injectable()
export class AdjustmentSweep {
  private readonly logger = new Logger(AdjustmentSweep.name);
  private running: Promise<number> | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(UsageLedger) private readonly ledger: Pick<UsageLedger, 'figuresOf'>,
  ) {}

  /** Calls during a run join it. @returns how many adjustments were added */
  run(): Promise<number> {
    this.running ??= this.adjustAll().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async adjustAll(): Promise<number> {
    for (let made = 0; ;) {
      const batch = await this.prisma.transaction(async (tx) => {
        const notes = await claimNotes(tx, NOTES_PER_BATCH);
        if (notes.length === 0) return undefined;
        const added = await this.adjust(tx, notes);
        await dropNotes(tx, notes);
        return added;
      }, { timeoutMs: BATCH_LIMIT_MS });
      if (batch === undefined) return made;
      made += batch;
    }
  }

  private async adjust(tx: Tx, notes: readonly PeriodKey[]): Promise<number> {
    const statements = (await tx.statement.findMany({
      where: { OR: notes.map(({ tenant, periodId }) => ({ tenant, periodId })) }, include: { adjustments: { orderBy: { number: 'asc' } } },
    })).map(storedStatement);
    const raw = await readRawSums(tx, notes);
    const records = new Map((await readLateRecords(tx, notes)).map((row) => [meterKey(row.tenant, row.periodId, row.meter), row]));
    const at = new Date(this.clock.now());
    let added = 0;
    for (const statement of statements) {
      const lines = readableLines(statement);
      if (lines === undefined) {
        // It must not keep the others from theirs; a verification names it.
        this.logger.error(`The statement ${statement.id} of ${statement.tenant} cannot be read and gets no adjustments: verify the statements`);
        continue;
      }
      const sums = new Map((raw.get(periodKey(statement)) ?? []).map((row) => [row.meter, row.sums]));
      const meters = [...new Set([...lines.map(({ meter }) => meter), ...sums.keys()])].sort();
      const closed = meters.map((meter): Omit<ClosedMeter, 'settledNow'> => ({
        meter,
        line: lines.find((line) => line.meter === meter),
        made: statement.adjustments.filter((adjustment) => adjustment.meter === meter),
        raw: sums.get(meter) ?? NO_SUMS,
        records: records.get(meterKey(statement.tenant, statement.periodId, meter)) ?? NO_RECORDS,
      }));
      const settled = closed.some((one) => growthOf(one).degraded > 0n) ? await this.settledNow(tx, statement, at) : undefined;
      const due = closed.flatMap((one) => dueAdjustments({ ...one, settledNow: settled?.get(one.meter) ?? BigInt(one.line?.settled ?? '0') }));
      await tx.statementAdjustment.createMany({ data: chained(statement, due, at).map((row) => ({ ...row, statementId: statement.id, at, units: BigInt(row.units) })) });
      added += due.length;
    }
    return added;
  }

  /** By the rules at the end of the period. Rare: only where units of an outage came in after closing. */
  private async settledNow(tx: Tx, { tenant, content }: StoredStatement, instant: Date): Promise<Map<string, bigint>> {
    const { id, start, end, timezone } = content.period;
    const tenants = await readPolicyRows(tx, [tenant], { overrides: 'all', now: instant });
    const period = { id, startMs: Date.parse(start), endMs: Date.parse(end), timezone };
    const figures = await this.ledger.figuresOf(tenants, new Map([[tenant, [period]]]), { db: tx, instant });
    return new Map(figures.map(({ meter, parts }) => [meter, parts.reduce((sum, part) => sum + part.settled, 0n)]));
  }
}

/** Numbered and hashed behind what the statement has. */
function chained(statement: StoredStatement, due: readonly DueAdjustment[], at: Date): (AdjustmentContent & { readonly hash: string })[] {
  let { number, hash } = statement.adjustments.at(-1) ?? { number: 0, hash: statement.hash };
  return due.map(({ meter, kind, units, reason }) => {
    const content: AdjustmentContent = { number: (number += 1), at: at.toISOString(), meter, units: String(units), kind, reason, previousHash: hash };
    hash = adjustmentHash(content);
    return { ...content, hash };
  });
}
