import type { ReactNode } from 'react';
import { IconArrowRight } from '@tabler/icons-react';
import { showJson, type FieldDifference } from '../format/json-diff';
import classes from './diff-table.module.css';

interface DiffTableProps {
  readonly label: string;
  readonly differences: readonly FieldDifference[];
}

/** Field by field: what it was and what it is. What is new altogether has no column for before. */
export function DiffTable({ label, differences: all }: DiffTableProps): ReactNode {
  const isNew = all.every(({ before }) => before === undefined);
  const differences = isNew ? all.filter(({ after }) => !isEmptyList(after)) : all;
  if (differences.length === 0) return <p className={classes.none}>No field changed.</p>;
  return (
    <table className={classes.table} aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {isNew ? null : (
            <>
              <th scope="col">Before</th>
              <th scope="col">
                <span className={classes.hidden}>becomes</span>
              </th>
            </>
          )}
          <th scope="col">{isNew ? 'Value' : 'After'}</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, before, after, note }) => (
          <tr key={path.join('/')}>
            <th scope="row">
              {path.join(' · ') || 'value'}
              {note === undefined ? null : <span className={classes.note}>{note}</span>}
            </th>
            {isNew ? null : (
              <>
                <td>
                  <span className={before === undefined ? classes.absent : classes.before}>{showJson(before)}</span>
                </td>
                <td className={classes.arrow}>
                  <IconArrowRight size={13} aria-hidden />
                </td>
              </>
            )}
            <td>
              <span className={after === undefined ? classes.absent : isNew ? undefined : classes.after}>{showJson(after)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const isEmptyList = (value: FieldDifference['after']): boolean => Array.isArray(value) && value.length === 0;
