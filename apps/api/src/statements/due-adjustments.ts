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
  readonly made: readonly { readonly kind: string; readonly units: bigint; readonly at: Date; readonly reason: string | null }[];
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
  const reasons = untoldReasons(records.reasons, made.filter(({ kind }) => kind === 'correction'));
  return (['external', 'correction', 'journal', 'recovered'] as const).filter((kind) => due[kind] !== 0n)
    .map((kind) => ({ meter, kind, units: due[kind], reason: kind === 'correction' ? reasonOf(reasons) : null }));
}

/** Longest between a record's receipt and its commit, with what clocks of two machines differ by, ms. */
const COMMITTED_WITHIN_MS = 60_000;

/** Reasons of records that came since the last correction was added, or were on their way then. */
function untoldReasons(reasons: ClosedMeter['records']['reasons'], told: readonly { readonly at: Date; readonly reason: string | null }[]): string[] {
  const lastMs = Math.max(0, ...told.map(({ at }) => at.getTime()));
  const isTold = (reason: string): boolean => told.some((one) => one.reason?.includes(reason) === true);
  return reasons.filter(({ reason, receivedAt }) => receivedAt.getTime() > lastMs || (receivedAt.getTime() > lastMs - COMMITTED_WITHIN_MS && !isTold(reason)))
    .map(({ reason }) => reason);
}

/** Cut between characters: half of one could not be stored as it was hashed. */
const reasonOf = (reasons: readonly string[]): string | null => [...new Set(reasons)].join('; ').slice(0, REASON_MAX).replace(/\p{Surrogate}$/u, '') || null;
