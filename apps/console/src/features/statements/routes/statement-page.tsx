import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Statement } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Count, Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { ButtonLink } from '../../../components/links';
import { Loaded } from '../../../components/loaded';
import { isNotFound, MissingPage } from '../../../components/missing-page';
import { Empty } from '../../../components/notices';
import { Facts, Page, Panel } from '../../../components/page';
import { signed } from '../../../components/sum-table';
import { plural } from '../../../format/number';
import { formatDay, lastInstant } from '../../../format/time';
import { statementQuery, tenantStatementsQuery } from '../api/statement.queries';
import { Adjustments } from '../components/adjustments';
import { HashChain } from '../components/hash-chain';
import { LinePanel } from '../components/line-panel';
import { ReconciledBadge } from '../components/reconciled-badge';
import { verdictOfAll } from '../components/reconciliation-words';
import { Reconciliation } from '../components/reconciliation';
import classes from '../components/statement.module.css';

const route = getRouteApi('/console/statements/$id');

export function StatementPage(): ReactNode {
  const { id } = route.useParams();
  const statement = useQuery(statementQuery(id));
  if (statement.data === undefined && isNotFound(statement.error)) {
    const next = (
      <ButtonLink to="/statements" variant="default">
        All statements
      </ButtonLink>
    );
    return <MissingPage kind="statement" name={id} next={next} />;
  }
  return (
    <Loaded query={statement} heightPx={300}>
      {(read) => <StatementDetail key={id} statement={read} />}
    </Loaded>
  );
}

function StatementDetail({ statement }: { readonly statement: Statement }): ReactNode {
  const { tenant, number, period, closedAt, closedBy, lines, reconciliation, adjustments } = statement;
  const around = useQuery(tenantStatementsQuery(tenant)).data?.items ?? [];
  const [before, after] = [around.find((each) => each.number === number - 1), around.find((each) => each.number === number + 1)];
  return (
    <Page
      title={`${tenant}, ${formatDay(period.start, period.timezone)} – ${formatDay(lastInstant(period.end), period.timezone)}`}
      beside={
        <>
          <Badge>statement {number}</Badge>
          <ReconciledBadge verdict={verdictOfAll(statement)} of="statement" />
        </>
      }
      lead={
        <Facts
          items={[
            [
              'Tenant',
              <Link key="tenant" to="/tenants/$slug" params={{ slug: tenant }}>
                {tenant}
              </Link>,
            ],
            ['Period', <code key="period">{period.id}</code>],
            ['Time zone', period.timezone],
            ['Closed', <Time key="closed" at={closedAt} zone={period.timezone} />],
            ['By', closedBy],
          ]}
        />
      }
      actions={
        <>
          {before ? (
            <ButtonLink to="/statements/$id" params={{ id: before.id }} variant="default">
              Statement before
            </ButtonLink>
          ) : null}
          {after ? (
            <ButtonLink to="/statements/$id" params={{ id: after.id }} variant="default">
              Statement after
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <div className={layout.columns}>
        <div className={layout.stack}>
          {lines.length === 0 ? (
            <section className={layout.panel} aria-label="Lines">
              <Empty title="Nothing was used">No meter had a unit in this period.</Empty>
            </section>
          ) : null}
          {lines.map((line) => (
            <LinePanel key={line.meter} line={line} />
          ))}
          <Panel title="Adjustments" isFlush note={adjustments.length === 0 ? undefined : `${plural(adjustments.length, 'adjustment')} since the close`}>
            <Adjustments statement={statement} />
          </Panel>
          {adjustments.length > 0 ? <Totals statement={statement} /> : null}
        </div>
        <div className={layout.stack}>
          <Panel title="Reconciliation" isFlush note="three stores, read at closing">
            <Reconciliation lines={reconciliation} />
          </Panel>
          <HashChain statement={statement} before={before} />
        </div>
      </div>
    </Page>
  );
}

function Totals({ statement: { totals } }: { readonly statement: Statement }): ReactNode {
  return (
    <Panel title="With adjustments" note="units">
      <table className={classes.table} aria-label="Totals with adjustments">
        <thead>
          <tr>
            <th scope="col">Meter</th>
            {['Adjusted', 'Used', 'Billable'].map((title) => (
              <th key={title} scope="col" className={classes.numeric}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {totals.map(({ meter, used, billable, adjusted }) => (
            <tr key={meter}>
              <th scope="row">{meter}</th>
              <td className={classes.numeric}>{signed(adjusted)}</td>
              <td className={classes.numeric}>
                <Count units={used} />
              </td>
              <td className={classes.numeric}>
                <Count units={billable} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
