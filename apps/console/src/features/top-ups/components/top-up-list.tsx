import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconGift } from '@tabler/icons-react';
import type { TopUp } from '@quotaplane/contracts';
import { Count, Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { UsageBar } from '../../../components/usage-bar';
import { useNow } from '../../../components/use-now';
import { formatCount } from '../../../format/number';
import { useCan } from '../../session/api/session.queries';
import { tenantTopUpsQuery } from '../api/top-up.queries';
import { isOpenAt, topUpStateAt, TopUpStateBadge } from './top-up-state';
import classes from './top-ups.module.css';

const WithdrawDialog = onDemand(async () => (await import('./withdraw-dialog')).WithdrawDialog, ({ topUp }) => topUp !== undefined);

/** A tenant's grants, newest first, each with what was drawn of it and the way back. */
export function TopUpList({ tenant, zone }: { readonly tenant: string; readonly zone: string }): ReactNode {
  const topUps = useQuery(tenantTopUpsQuery(tenant));
  const [withdrawing, setWithdrawing] = useState<TopUp>();
  return (
    <Loaded query={topUps}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Empty title="No top-ups" icon={<IconGift size={30} stroke={1.4} aria-hidden />}>
              Units granted beyond the allowance show here, with what was drawn of them.
            </Empty>
          ) : (
            <ul className={classes.list}>
              {items.map((topUp) => (
                <TopUpItem key={topUp.id} topUp={topUp} zone={zone} onWithdraw={() => setWithdrawing(topUp)} />
              ))}
            </ul>
          )}
          <WithdrawDialog topUp={withdrawing} onClose={() => setWithdrawing(undefined)} />
        </>
      )}
    </Loaded>
  );
}

/** What became of the rest. */
function restWords(topUp: TopUp, nowMs: number): string {
  const state = topUpStateAt(topUp, nowMs);
  if (state === 'active' || state === 'scheduled') return `, ${formatCount(topUp.remaining)} left`;
  const rest = topUp.units - topUp.drawn;
  return rest === 0 ? '' : `, ${formatCount(rest)} ${state === 'withdrawn' ? 'taken back' : 'lapsed'}`;
}

interface TopUpItemProps {
  readonly topUp: TopUp;
  readonly zone: string;
  readonly onWithdraw: () => void;
}

function TopUpItem({ topUp, zone, onWithdraw }: TopUpItemProps): ReactNode {
  const { id, meter, units, drawn, reason, ticket, expiresAt, from, createdBy, withdrawnBy, withdrawnAt, priority } = topUp;
  const nowMs = useNow();
  const mayWrite = useCan('topups:write');
  const isOpen = isOpenAt(topUp, nowMs);
  return (
    <li id={`top-up-${id}`} className={classes.item} data-closed={!isOpen || undefined}>
      <div className={classes.main}>
        <div className={classes.head}>
          <TopUpStateBadge topUp={topUp} />
          <span className={classes.numbers}>
            <Count units={units} /> units of {meter}
          </span>
        </div>
        <div className={classes.drawn}>
          <UsageBar used={String(drawn)} allowance={units} label={`Drawn of the top-up of ${meter}`} hasAlarm={false} />
          <span className={classes.meta}>
            {formatCount(drawn)} drawn{restWords(topUp, nowMs)}
          </span>
        </div>
        <p className={classes.reason}>
          {reason} {ticket === null ? null : <code>{ticket}</code>}
        </p>
        <p className={classes.meta}>
          <span>by {createdBy}</span>
          <span>
            from <Time at={from} zone={zone} />
          </span>
          <span>
            {expiresAt === null ? (
              'until spent'
            ) : (
              <>
                lapses <Time at={expiresAt} zone={zone} />
              </>
            )}
          </span>
          {priority === 100 ? null : <span>priority {priority}</span>}
          {withdrawnAt === null ? null : (
            <span>
              withdrawn <Time at={withdrawnAt} zone={zone} /> by {withdrawnBy}
            </span>
          )}
          <Link to="/audit" search={{ entity: id }}>
            audit
          </Link>
        </p>
      </div>
      {isOpen && mayWrite ? (
        <Button size="compact-sm" variant="default" aria-label={`Withdraw the top-up of ${formatCount(units)} ${meter}`} onClick={onWithdraw}>
          Withdraw
        </Button>
      ) : null}
    </li>
  );
}
