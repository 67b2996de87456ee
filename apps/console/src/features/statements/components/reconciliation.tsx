import type { ReactNode } from 'react';
import { IconAlertTriangle, IconCheck, IconMinus } from '@tabler/icons-react';
import type { ReconciliationLine } from '@quotaplane/contracts';
import { Count } from '../../../components/figures';
import { EmptyLine } from '../../../components/notices';
import { ReconciledBadge } from './reconciled-badge';
import { differenceWords, storesOf, verdictOf, type StoreFigure } from './reconciliation-words';
import classes from './statement.module.css';

/** The guards' own count of each meter, read from three stores that know nothing of each other. */
export function Reconciliation({ lines }: { readonly lines: readonly ReconciliationLine[] }): ReactNode {
  if (lines.length === 0) return <EmptyLine icon={<IconMinus size={16} aria-hidden />}>No guard counted anything in this period, so there is nothing to compare.</EmptyLine>;
  return (
    <div>
      {lines.map((line) => (
        <div key={line.meter} className={classes.block}>
          <div className={classes.blockHead}>
            <strong>{line.meter}</strong>
            <ReconciledBadge verdict={verdictOf(line)} of="meter" />
          </div>
          <table className={classes.stores} aria-label={`Reconciliation of ${line.meter}`}>
            <tbody>
              {storesOf(line).map((figure, index) => (
                <tr key={figure.store}>
                  <th scope="row">
                    {figure.store}
                    <span className={classes.sub}>{figure.where}</span>
                  </th>
                  <td className={classes.numeric}>{figure.units === null ? '–' : <Count units={figure.units} />}</td>
                  <td>{index === 0 ? <span className={classes.quiet}>what is billed</span> : <Compared figure={figure} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {line.explained.length === 0 ? null : (
            <ul className={classes.explained} aria-label={`Why the counts of ${line.meter} may differ`}>
              {line.explained.map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </div>
  );
}

function Compared({ figure }: { readonly figure: StoreFigure }): ReactNode {
  const words = differenceWords(figure);
  const isSame = figure.difference === '0';
  const Icon = isSame ? IconCheck : figure.difference === null ? IconMinus : IconAlertTriangle;
  return (
    <span className={classes.compared} data-tone={isSame ? 'good' : figure.difference === null ? undefined : 'warn'}>
      <Icon size={14} stroke={2.2} aria-hidden />
      {words}
    </span>
  );
}
