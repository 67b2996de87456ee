import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconX } from '@tabler/icons-react';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { Panel } from '../../../components/page';
import { tenantUsageQuery } from '../api/usage.queries';
import { PeriodChart } from './period-chart';
import { QuotaCard } from './quota-card';
import { usageKeyOf } from './usage-columns';
import classes from './usage.module.css';

interface TenantUsageProps {
  readonly tenant: string;
  readonly period: string;
  readonly onClose: () => void;
}

/** Each meter of one tenant: its quota beside its curve. */
export function TenantUsage({ tenant, period, onClose }: TenantUsageProps): ReactNode {
  const usage = useQuery(tenantUsageQuery(tenant, period));
  return (
    <Panel
      title={`${tenant}, ${period === 'current' ? 'this period' : period}`}
      actions={
        <>
          <Link to="/tenants/$slug" params={{ slug: tenant }}>
            Open tenant
          </Link>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label="Close the chart" onClick={onClose}>
            <IconX size={16} />
          </Button>
        </>
      }
    >
      <Loaded query={usage} heightPx={220}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing used">This tenant has no units in {period === 'current' ? 'its running period' : 'a period that starts in this month'}.</Empty>
          ) : (
            <div className={classes.tenantUsage}>
              {items.map((item) => (
                <div key={usageKeyOf(item)} className={classes.meter}>
                  <QuotaCard item={item} />
                  <PeriodChart item={item} isOnlyMeter={items.every(({ meter }) => meter === item.meter)} />
                </div>
              ))}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
