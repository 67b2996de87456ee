import type { ReactNode } from 'react';
import { IconArrowRight } from '@tabler/icons-react';
import { showJson, type FieldDifference } from '../format/json-diff';
import classes from './diff-table.module.css';

/** Field by field: what it was and what it is. */
export function DiffTable({ label, differences }: { readonly label: string; readonly differences: readonly FieldDifference[] }): ReactNode {
  if (differences.length === 0) return <p className={classes.none}>No field changed.</p>;
  return (
    <table className={classes.table} aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">
            <span className={classes.hidden}>becomes</span>
          </th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, before, after }) => (
          <tr key={path.join('/')}>
            <th scope="row">{path.join(' · ') || 'value'}</th>
            <td>
              <span className={before === undefined ? classes.absent : classes.before}>{showJson(before)}</span>
            </td>
            <td className={classes.arrow}>
              <IconArrowRight size={13} aria-hidden />
            </td>
            <td>
              <span className={after === undefined ? classes.absent : classes.after}>{showJson(after)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
