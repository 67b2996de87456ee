import type { StatementLine } from '@quotaplane/contracts';
import type { MeterFigures, PartFigures } from '../usage/meter-figures';
import { breakdownOf, sumOf } from '../usage/usage-item';

/** A part of a period in which the tenant had no tier, so that nothing limited what it used. */
const NO_TIER = 'none';

/** What the quotas of a meter took from other periods and from top-ups, final. */
export interface QuotaMoves {
  readonly drawn: bigint;
  readonly carriedOut: bigint;
}

/** One meter's line, without a look at any store: parts add up, the allowance is the last part's. */
export function statementLine({ meter, parts }: MeterFigures, { drawn, carriedOut }: QuotaMoves): StatementLine {
  const total = (figure: (part: PartFigures) => bigint): string => String(sumOf(parts, figure));
  const last = parts.at(-1);
  return {
    meter,
    ...breakdownOf(parts),
    used: total((part) => part.used),
    carriedIn: String(last?.carried ?? 0n),
    carriedOut: String(carriedOut),
    granted: String(drawn),
    allowance: allowanceText(last?.allowance ?? null),
    overage: total((part) => part.overage),
    billable: total((part) => part.billable),
    overagePolicy: last?.overagePolicy ?? 'reject',
    parts: parts.map((part) => ({
      part: part.part,
      tier: part.tier === '' ? NO_TIER : part.tier,
      tierVersion: part.tierVersion,
      used: String(part.used),
      allowance: allowanceText(part.allowance),
      overage: String(part.overage),
      billable: String(part.billable),
    })),
  };
}

const allowanceText = (allowance: bigint | null): string | null => (allowance === null ? null : String(allowance));

const atLeastZero = (units: bigint): bigint => (units > 0n ? units : 0n);

/** What a line's figures add up to; below 0 where more was corrected than used. */
const netOf = ({ admitted, refunded, settled, external, late, recovered, corrections }: StatementLine): bigint =>
  BigInt(admitted) - BigInt(refunded) + BigInt(settled) + BigInt(external) + BigInt(late) + BigInt(recovered) + BigInt(corrections);

/** A line and what was added to it after closing: the overage of the last part moves with it. */
export function lineTotals(line: StatementLine | undefined, adjusted: bigint): { readonly used: bigint; readonly billable: bigint } {
  if (line === undefined) return { used: atLeastZero(adjusted), billable: 0n };
  const last = line.parts.at(-1);
  if (adjusted === 0n || last === undefined) return { used: BigInt(line.used), billable: BigInt(line.billable) };
  // Where corrections had taken more off than was used, what comes later fills that up first.
  const isWhole = line.parts.length === 1;
  const used = atLeastZero((isWhole ? netOf(line) : BigInt(line.used)) + adjusted);
  if (line.overagePolicy !== 'bill' || last.allowance === null) return { used, billable: BigInt(line.billable) };
  const past = (isWhole ? netOf(line) : BigInt(last.used)) + adjusted - BigInt(last.allowance);
  return { used, billable: BigInt(line.billable) - BigInt(last.billable) + atLeastZero(past) };
}
