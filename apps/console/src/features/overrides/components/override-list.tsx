import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconTrendingUp } from '@tabler/icons-react';
import type { Override } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty, Notice } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { useNow } from '../../../components/use-now';
import { useCan } from '../../session/api/session.queries';
import { tenantOverridesQuery } from '../api/override.queries';
import { describeSet } from './override-set';
import { isOpenAt, OverrideStateBadge } from './override-state';
import { SubjectLabel } from './subject-label';
import classes from './override-list.module.css';

const RevertDialog = onDemand(async () => (await import('./revert-dialog')).RevertDialog, ({ override }) => override !== undefined);

/** A tenant's overrides, newest first, each with its state, its end and the way back. */
export function OverrideList({ tenant, zone }: { readonly tenant: string; readonly zone: string }): ReactNode {
  const overrides = useQuery(tenantOverridesQuery(tenant));
  const [reverting, setReverting] = useState<Override>();
  return (
    <Loaded query={overrides}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Empty title="No overrides" icon={<IconTrendingUp size={30} stroke={1.4} aria-hidden />}>
              The tenant as a whole has what its tier gives. A raised limit shows here with its end.
            </Empty>
          ) : (
            <ul className={classes.list}>
              {items.map((override) => (
                <OverrideItem key={override.id} override={override} zone={zone} onRevert={() => setReverting(override)} />
              ))}
            </ul>
          )}
          <RevertDialog override={reverting} onClose={() => setReverting(undefined)} />
        </>
      )}
    </Loaded>
  );
}

interface OverrideItemProps {
  readonly override: Override;
  readonly zone: string;
  readonly onRevert: () => void;
}

function OverrideItem({ override, zone, onRevert }: OverrideItemProps): ReactNode {
  const nowMs = useNow();
  const mayWrite = useCan('overrides:write');
  const isOpen = isOpenAt(override, nowMs);
  return (
    <li id={`override-${override.id}`} className={classes.item} data-closed={!isOpen || undefined}>
      <div className={classes.main}>
        <div className={classes.head}>
          <OverrideStateBadge override={override} />
          {override.subject.scope === 'tenant' ? null : <SubjectLabel subject={override.subject} />}
          <span className={classes.numbers}>
            {override.mode} {describeSet(override.set).join(', ')}
          </span>
        </div>
        <p className={classes.reason}>
          {override.reason}
          {override.ticket ? (
            <>
              {' '}
              <code>{override.ticket}</code>
            </>
          ) : null}
        </p>
        <p className={classes.meta}>
          <span>by {override.createdBy}</span>
          <span>
            from <Time at={override.from} zone={zone} />
          </span>
          <span>
            {override.until === null ? (
              'no end'
            ) : (
              <>
                until <Time at={override.until} zone={zone} />
              </>
            )}
          </span>
          {override.revertedBy === null ? null : <span>reverted by {override.revertedBy}</span>}
          <Link to="/audit" search={{ entity: override.id }}>
            audit
          </Link>
        </p>
        {override.dangling.length > 0 ? (
          <Notice tone="warn">The tier has no limit named {override.dangling.join(', ')} now, so that part does nothing.</Notice>
        ) : null}
      </div>
      {isOpen && mayWrite ? (
        <Button size="compact-sm" variant="default" onClick={onRevert}>
          Revert
        </Button>
      ) : null}
    </li>
  );
}
