import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { StatementLine } from '@quotaplane/contracts';
import { Count } from '../../../components/figures';
import { Facts, Panel } from '../../../components/page';
import { SumTable } from '../../../components/sum-table';
import { formatCount } from '../../../format/number';
import { breakdownLines } from '../../usage/components/usage-figures';
import classes from './statement.module.css';

const PAST_IT = {
  reject: 'calls are refused',
  throttle: 'a slower lane, not billed',
  bill: 'billed by the unit',
} as const;

/** One meter of a statement: what adds up to its usage, and what of it is billable. */
export function LinePanel({ line }: { readonly line: StatementLine }): ReactNode {
  const { meter, used, allowance, carriedIn, carriedOut, granted, overage, billable, overagePolicy, parts } = line;
  return (
    <Panel title={meter} isFlush note="units">
      <div className={classes.line}>
        <Facts
          items={[
            ['Used', <Count key="used" units={used} />],
            ['Allowance', <Count key="allowance" units={allowance} />],
            ...(carriedIn === '0' ? [] : [['of it carried in', formatCount(carriedIn)] as const]),
            ...(granted === '0' ? [] : [['drawn from top-ups', formatCount(granted)] as const]),
            ['Overage', <Count key="overage" units={overage} />],
            ['Billable', <Count key="billable" units={billable} />],
            ['Past the allowance', PAST_IT[overagePolicy]],
            ...(carriedOut === '0' ? [] : [['Carried into the next', formatCount(carriedOut)] as const]),
          ]}
        />
        <SumTable label={`Usage of ${meter}`} lines={breakdownLines(line)} total={{ key: 'used', name: 'Used', units: used }} />
      </div>
      {parts.length > 1 ? <Parts line={line} /> : null}
    </Panel>
  );
}

/** Where a tier change with a restart split the period. */
function Parts({ line: { meter, parts } }: { readonly line: StatementLine }): ReactNode {
  return (
    <div className={classes.parts}>
      <table className={classes.table} aria-label={`Parts of ${meter}`}>
        <thead>
          <tr>
            <th scope="col">Part, tier</th>
            {['Used', 'Allowance', 'Overage', 'Billable'].map((title) => (
              <th key={title} scope="col" className={classes.numeric}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map(({ part, tier, tierVersion, used, allowance, overage, billable }) => (
            <tr key={part}>
              <th scope="row">
                {part}:{' '}
                <Link to="/tiers/$slug" params={{ slug: tier }}>
                  {tier}
                </Link>{' '}
                version {tierVersion}
              </th>
              {[used, allowance, overage, billable].map((units, index) => (
                <td key={index} className={classes.numeric}>
                  <Count units={units} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
