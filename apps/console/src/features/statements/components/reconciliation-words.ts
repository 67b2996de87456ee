import type { ReconciliationLine, Statement } from '@quotaplane/contracts';
import { formatCount } from '../../../format/number';

export interface StoreFigure {
  readonly store: string;
  readonly where: string;
  /** Null where the store holds nothing any more. */
  readonly units: string | null;
  /** To the ledger; null where there is nothing to compare. */
  readonly difference: string | null;
}

/** The three independent counts of one meter, the ledger first. */
export const storesOf = (line: ReconciliationLine): StoreFigure[] => [
  { store: 'Ledger', where: 'rows in Postgres', units: line.ledger, difference: null },
  { store: 'Journals', where: 'each node’s own, in Redis', units: line.journals, difference: line.journalsDifference },
  { store: 'Counters', where: 'what calls were judged by, in Redis', units: line.counters, difference: line.countersDifference },
];

/** `agrees`, `5 more than the ledger`, `5 fewer than the ledger`, `holds nothing any more`. */
export function differenceWords({ units, difference }: StoreFigure): string {
  if (units === null || difference === null) return 'holds nothing any more';
  const exact = BigInt(difference);
  if (exact === 0n) return 'agrees';
  return exact > 0n ? `${formatCount(difference)} more than the ledger` : `${formatCount(String(-exact))} fewer than the ledger`;
}

/** `alone`: the other stores hold nothing any more, so that there is nothing to agree with. */
export type Verdict = 'agree' | 'differ' | 'alone';

export function verdictOf({ agrees, counters, journals }: Pick<ReconciliationLine, 'agrees' | 'counters' | 'journals'>): Verdict {
  if (!agrees) return 'differ';
  return counters === null && journals === null ? 'alone' : 'agree';
}

/** Of a whole statement: the worst of its meters; one of them agrees where none differs. */
export function verdictOfAll({ reconciliation }: Pick<Statement, 'reconciliation'>): Verdict {
  const verdicts = reconciliation.map(verdictOf);
  return verdicts.includes('differ') ? 'differ' : verdicts.includes('agree') ? 'agree' : 'alone';
}
