import type { StatementAdjustment, StatementLine } from '@quotaplane/contracts';
import type { RawSums } from './raw-sums';

/** Most text of all reasons together. */
const REASON_MAX = 500;

export type AdjustmentKind = StatementAdjustment['kind'];

export interface DueAdjustment {
  readonly meter: string;
  readonly kind: AdjustmentKind;
  readonly units: bigint;
  readonly reason: string | null;
}

/** A closed meter as its statement has it, and as the raw rows have it now. */
export interface ClosedMeter {
  readonly meter: string;
  /** Undefined where nothing was used before closing. */
  readonly line: StatementLine | undefined;
  readonly made: readonly { readonly kind: string; readonly units: bigint; readonly at: Date }[];
  readonly raw: RawSums;
  /** What counts of the degraded units now; asked for where there are more of them than in the line. */
  readonly settledNow: bigint;
  readonly records: { readonly added: bigint; readonly corrected: bigint; readonly reasons: readonly { readonly reason: string; readonly receivedAt: Date }[] };
}

const figure = (text: string | undefined): bigint => BigInt(text ?? '0');

/** Units a meter has more (or fewer) in the raw rows than in its line, before any adjustment, by where they come from. */
export function growthOf({ line, raw }: Pick<ClosedMeter, 'line' | 'raw'>): { readonly counted: bigint; readonly degraded: bigint; readonly recovered: bigint; readonly records: bigint } {
  return {
    counted: raw.admitted - raw.refunded - (figure(line?.admitted) - figure(line?.refunded)),
    degraded: raw.degraded - figure(line?.degraded),
    recovered: raw.recovered - figure(line?.recovered),
    records: raw.external + raw.late - raw.corrections - (figure(line?.external) + figure(line?.late) + figure(line?.corrections)) + raw.adjusted,
  };
}

/** What has to be added so that statement and adjustments are what the raw rows say. Nothing where they are already: repeats add nothing. */
export function dueAdjustments(closed: ClosedMeter): DueAdjustment[] {
  const { meter, line, made, settledNow, records } = closed;
  const growth = growthOf(closed);
  const madeOf = (kind: AdjustmentKind): bigint => made.filter((one) => one.kind === kind).reduce((sum, { units }) => sum + units, 0n);
  // Degraded units that came after closing count as far as the settlement grew with them, and never more than they are.
  const settledMore = settledNow - figure(line?.settled);
  const settled = settledMore < 0n ? 0n : settledMore > growth.degraded ? growth.degraded : settledMore;
  const due: Readonly<Record<AdjustmentKind, bigint>> = {
    journal: growth.counted + settled - madeOf('journal'),
    recovered: growth.recovered - madeOf('recovered'),
    external: growth.records - records.corrected - madeOf('external'),
    correction: records.corrected - madeOf('correction'),
  };
  const lastCorrection = Math.max(0, ...made.filter(({ kind }) => kind === 'correction').map(({ at }) => at.getTime()));
  const reasons = records.reasons.filter(({ receivedAt }) => receivedAt.getTime() > lastCorrection).map(({ reason }) => reason);
  return (['external', 'correction', 'journal', 'recovered'] as const).filter((kind) => due[kind] !== 0n)
    .map((kind) => ({ meter, kind, units: due[kind], reason: kind === 'correction' ? reasonOf(reasons) : null }));
}

const reasonOf = (reasons: readonly string[]): string | null => [...new Set(reasons)].join('; ').slice(0, REASON_MAX) || null;
