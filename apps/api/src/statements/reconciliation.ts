import type { ReconciliationLine, StatementLine } from '@quotaplane/contracts';
import type { RawSums } from './raw-sums';

/** counter + plus - minus of the last generation. `isWhole`: its counter is there, and not its base alone. */
export interface CounterFigure {
  readonly units: bigint;
  readonly isWhole: boolean;
}

/** What the three stores say of one meter. Undefined: that store could not be read. Null: it holds nothing of it. */
export interface StoreFigures {
  readonly counters: CounterFigure | null | undefined;
  /** Admitted less refunded by the nodes' own hashes. */
  readonly journals: bigint | null | undefined;
  readonly ledger: RawSums;
}

const AWAY = 'Redis could not be read when the period was closed';

/**
 * Compares like with like: what the guards themselves admitted less what they refunded. The ledger's figure is the sum of its journals; the nodes' hashes
 * give the same sum directly. A counter with its base stands for everything that counts against the quota, so that what is no guard's own count is taken
 * off: external, late, settled and recovered units, and corrections are added back. A gap is in the counter's loss and in its base, and so in neither.
 */
export function reconciliationLine(line: StatementLine, { counters, journals, ledger }: StoreFigures): ReconciliationLine {
  const own = ledger.admitted - ledger.refunded;
  const beside = BigInt(line.external) + BigInt(line.late) + BigInt(line.corrections) + BigInt(line.settled) + BigInt(line.recovered);
  // An absent counter counts 0 for the guards too: where the ledger has nothing either, nothing is missing.
  const counted = counters === null || counters === undefined ? (counters === null && own + beside === 0n ? 0n : null) : ownCount(counters, own, beside);
  const journaled = journals === null && own === 0n ? 0n : (journals ?? null);
  const countersDifference = counted === null ? null : counted - own;
  const journalsDifference = journaled === null ? null : journaled - own;
  return {
    meter: line.meter,
    counters: textOf(counted),
    journals: textOf(journaled),
    ledger: String(own),
    countersDifference: textOf(countersDifference),
    journalsDifference: textOf(journalsDifference),
    agrees: (countersDifference ?? 0n) === 0n && (journalsDifference ?? 0n) === 0n,
    explained: [
      ...(counters === undefined && journals === undefined ? [AWAY] : [...counterNotes(counters, counted, countersDifference, ledger), ...journalNotes(journals, journaled, journalsDifference)]),
    ],
  };
}

/** A base alone is all there is to a generation that has admitted nothing yet; where it is not enough, the counter that stood beside it is gone. */
const ownCount = ({ units, isWhole }: CounterFigure, own: bigint, beside: bigint): bigint | null => (isWhole || units - beside === own ? units - beside : null);

const textOf = (figure: bigint | null): string | null => (figure === null ? null : String(figure));

function* counterNotes(read: CounterFigure | null | undefined, counted: bigint | null, difference: bigint | null, { doubtful, degraded }: RawSums): Generator<string> {
  if (read === undefined) yield 'the counters could not be read when the period was closed';
  else if (counted === null) yield 'Redis holds no counter of this period any more: it was lost, or 48 h have passed since the period ended';
  if (difference === null || difference === 0n) return;
  if (difference > 0n && difference <= doubtful) yield `up to ${doubtful} units may stand in the counter for calls that were answered without it; they are on no bill`;
  else if (difference > 0n && degraded > 0n) yield 'the base of the counter keeps the largest settlement it was ever told; the ledger settles by the rules at the end of the period';
  else if (difference > 0n) yield 'the counter holds units that no node has journaled: a node died, or somebody else has written to the counter';
  else yield 'the counter holds fewer units than were journaled: Redis has lost some, or the base of its last generation was not written yet';
}

function* journalNotes(read: bigint | null | undefined, journaled: bigint | null, difference: bigint | null): Generator<string> {
  if (read === undefined) yield 'the journals of the nodes could not be read when the period was closed';
  else if (journaled === null) yield 'Redis holds no journal of this period any more: they were lost, or 40 days old';
  if (difference === null || difference === 0n) return;
  if (difference < 0n) yield 'the journals in Redis hold less than the ledger has folded: some were lost with the store, or their nodes posted them to the API';
  else yield 'the journals in Redis hold more than the ledger: something was written to them after the last fold, or taken out of the ledger';
}
