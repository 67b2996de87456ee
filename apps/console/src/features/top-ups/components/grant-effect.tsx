import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconArrowRight } from '@tabler/icons-react';
import { formatCount } from '../../../format/number';
import { tenantUsageQuery } from '../../usage/api/usage.queries';
import { remainingWith } from '../../usage/components/usage-figures';
import classes from './top-ups.module.css';

interface GrantEffectProps {
  readonly tenant: string;
  readonly meter: string;
  readonly units: number | string;
}

/** What is left of the allowance now, and with the grant. */
export function GrantEffect({ tenant, meter, units }: GrantEffectProps): ReactNode {
  const usage = useQuery(tenantUsageQuery(tenant));
  const item = usage.data?.items.find((each) => each.meter === meter);
  if (usage.data === undefined) return null;
  if (item === undefined) return <p className={classes.hint}>Nothing of {meter} is used in this period yet.</p>;
  const granted = typeof units === 'number' && Number.isSafeInteger(units) && units > 0 ? BigInt(units) : undefined;
  const after = granted === undefined ? undefined : remainingWith(item, granted);
  return (
    <p className={classes.effect} role="status">
      <span>
        {formatCount(item.used)} of {formatCount(item.allowance)} used,{' '}
        <span className={classes.figure}>{formatCount(item.remaining)} left</span>
      </span>
      {after === undefined || after === null ? null : (
        <>
          <IconArrowRight size={15} aria-label="becomes" />
          <strong className={classes.figure}>{formatCount(after)} left</strong>
        </>
      )}
    </p>
  );
}
