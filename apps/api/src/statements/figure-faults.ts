import type { StatementLine } from '@quotaplane/contracts';
import { growthOf } from './due-adjustments';
import type { RawSums } from './raw-sums';
import type { AdjustmentRow } from './stored-statement';

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const sum = (texts: readonly string[]): bigint => texts.reduce((total, text) => total + BigInt(text), 0n);

/** What does not add up within a line. */
export function* lineFaults(line: StatementLine): Generator<string> {
  const { meter, parts } = line;
  const used = sum([line.admitted, line.settled, line.external, line.late, line.recovered, line.corrections]) - BigInt(line.refunded);
  // Corrections take nothing below 0, in no part; what they could not take off is in no figure.
  const beyond = BigInt(line.used) - used;
  if (beyond < 0n || beyond > -BigInt(line.corrections)) yield `${meter}: the figures add up to ${used} used, not to ${line.used}`;
  if (BigInt(line.settled) < 0n || BigInt(line.settled) > BigInt(line.degraded)) yield `${meter}: ${line.settled} settled of ${line.degraded} degraded`;
  for (const name of ['used', 'overage', 'billable'] as const) {
    if (sum(parts.map((part) => part[name])) !== BigInt(line[name])) yield `${meter}: ${name} is not the sum of its parts`;
  }
  for (const { part, used: own, allowance, overage, billable } of parts) {
    const past = allowance === null ? 0n : most(0n, BigInt(own) - BigInt(allowance));
    if (BigInt(overage) !== past) yield `${meter}, part ${part}: the overage is ${past}, not ${overage}`;
    if (BigInt(billable) !== 0n && billable !== overage) yield `${meter}, part ${part}: ${billable} billable of an overage of ${overage}`;
  }
}

/** What the raw rows of a meter say otherwise than its line and adjustments. */
export function* rawFaults(meter: string, line: StatementLine | undefined, adjustments: readonly AdjustmentRow[], raw: RawSums): Generator<string> {
  const growth = growthOf({ line, raw });
  const made = (...kinds: readonly string[]): bigint =>
    adjustments.filter((one) => one.meter === meter && kinds.includes(one.kind)).reduce((total, { units }) => total + units, 0n);
  // Of degraded units that came after closing any part may have been settled.
  const [least, largest] = [growth.counted, growth.counted + most(0n, growth.degraded)];
  const journaled = made('journal');
  if (journaled < least || journaled > largest) yield differs(meter, 'the journals', journaled < least ? least - journaled : largest - journaled);
  if (growth.degraded < 0n) yield differs(meter, 'the degraded units of the journals', growth.degraded);
  if (growth.recovered !== made('recovered')) yield differs(meter, 'the recovered units', growth.recovered - made('recovered'));
  const records = growth.records - made('external', 'correction');
  if (records !== 0n) yield differs(meter, 'the usage records', records);
}

const differs = (meter: string, where: string, units: bigint): string =>
  `${meter}: ${where} say ${units > 0n ? `${units} more` : `${-units} less`} than the statement with its adjustments`;
