import type { ReactNode } from 'react';
import type { UsageItem } from '@quotaplane/contracts';
import { SumTable } from '../../../components/sum-table';
import { breakdownLines } from './usage-figures';

/** Where the used units come from, adding up. */
export function Breakdown({ item }: { readonly item: Pick<UsageItem, 'tenant' | 'meter' | 'used' | 'breakdown'> }): ReactNode {
  return (
    <SumTable
      label={`What ${item.tenant} used of ${item.meter}`}
      lines={breakdownLines(item.breakdown)}
      total={{ key: 'used', name: 'Used', note: 'what the quota and the bill go by', units: item.used }}
    />
  );
}
