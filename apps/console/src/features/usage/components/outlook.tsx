import type { ReactNode } from 'react';
import type { UsageItem } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { outlookOf } from './usage-figures';

/** When the allowance is spent at the period's pace so far, in words; nothing where it has no end. */
export function Outlook({ item }: { readonly item: UsageItem }): ReactNode {
  const outlook = outlookOf(item);
  switch (outlook.kind) {
    case 'ends':
      return (
        <>
          spent <Time at={outlook.atMs} zone={item.period.timezone} as="day" /> at this pace
        </>
      );
    case 'spent':
      return 'all of it is spent';
    case 'lasts':
      return item.status === 'open' ? 'lasts at this pace' : null;
    default:
      return null;
  }
}
