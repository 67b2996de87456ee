import type { ReactNode } from 'react';
import type { UsageItem } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { outlookOf } from './usage-figures';

/** When the allowance is spent at the period's pace so far, in words; nothing where it has no end. `isShort` where a heading says the rest. */
export function Outlook({ item, isShort = false }: { readonly item: UsageItem; readonly isShort?: boolean }): ReactNode {
  const pace = isShort ? '' : ' at this pace';
  const outlook = outlookOf(item);
  switch (outlook.kind) {
    case 'ends':
      return (
        <>
          spent <Time at={outlook.atMs} zone={item.period.timezone} as="day" />
          {pace}
        </>
      );
    case 'spent':
      return isShort ? 'spent' : 'all of it is spent';
    case 'lasts':
      return item.status === 'open' ? `lasts${pace}` : null;
    default:
      return null;
  }
}
