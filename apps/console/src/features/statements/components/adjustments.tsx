import type { ReactNode } from 'react';
import { IconCheck } from '@tabler/icons-react';
import type { Statement } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import { EmptyLine } from '../../../components/notices';
import { signed } from '../../../components/sum-table';
import classes from './statement.module.css';

const KIND_WORDS = {
  external: 'usage reported late',
  correction: 'correction',
  journal: 'a node’s journal came late',
  recovered: 'recovered from a node that died',
} as const;

/** What came after the close. The statement itself stays as it is. */
export function Adjustments({ statement: { adjustments, period } }: { readonly statement: Statement }): ReactNode {
  if (adjustments.length === 0) {
    return <EmptyLine icon={<IconCheck size={16} stroke={2.2} aria-hidden />}>Nothing came after the close.</EmptyLine>;
  }
  return (
    <ol className={classes.list}>
      {adjustments.map(({ number, at, meter, units, kind, reason }) => (
        <li key={number} className={classes.item}>
          <Badge>no. {number}</Badge>
          <span>
            {meter}: {KIND_WORDS[kind]}
          </span>
          <span className={classes.quiet}>
            <Time at={at} zone={period.timezone} />
          </span>
          <span className={classes.units}>{signed(units)} units</span>
          {reason === null ? null : <span className={classes.why}>{reason}</span>}
        </li>
      ))}
    </ol>
  );
}
