import type { ReactNode } from 'react';
import { formatCount } from '../format/number';
import classes from './sum-table.module.css';

export interface SumLine {
  readonly key: string;
  readonly name: string;
  readonly note?: ReactNode;
  /** As it enters the sum; a decimal string of any size. */
  readonly units: string;
}

interface SumTableProps {
  readonly label: string;
  readonly lines: readonly SumLine[];
  readonly total: SumLine;
}

/** Lines that add up to a figure, as on a bill: each with its sign, the sum under a rule. */
export function SumTable({ label, lines, total }: SumTableProps): ReactNode {
  return (
    <table className={classes.table} aria-label={label}>
      <tbody>
        {lines.map(({ key, name, note, units }, index) => (
          <tr key={key}>
            <th scope="row">
              {name}
              {note === undefined ? null : <span className={classes.note}>{note}</span>}
            </th>
            <td>{signed(units, index === 0)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">
            {total.name}
            {total.note === undefined ? null : <span className={classes.note}>{total.note}</span>}
          </th>
          <td>{formatCount(total.units)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

/** `+ 1,200`, `− 7`; the first line of a sum has no plus. */
export function signed(units: string, isFirst = false): string {
  const exact = BigInt(units);
  if (exact < 0n) return `− ${formatCount(String(-exact))}`;
  return isFirst || exact === 0n ? formatCount(units) : `+ ${formatCount(units)}`;
}
