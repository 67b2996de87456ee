import type { ReactNode } from 'react';
import type { Tenant } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { Notice } from '../../../components/notices';
import { useNow } from '../../../components/use-now';
import { calendarWords } from './calendar-words';

/** A change of zone or first day on its way: when it takes effect, and the period in between. */
export function CalendarNotice({ tenant: { calendarChange, timezone, anchorDay } }: { readonly tenant: Tenant }): ReactNode {
  const nowMs = useNow();
  if (calendarChange === null) return null;
  const { effectiveAt, from, transition } = calendarChange;
  const span = (
    <>
      <Time at={transition.start} zone={timezone} /> to <Time at={transition.end} zone={timezone} />
    </>
  );
  return Date.parse(effectiveAt) > nowMs ? (
    <Notice>
      <strong>The billing calendar changes</strong> from {calendarWords(from)} to {calendarWords({ timezone, anchorDay })} when the running period ends, at{' '}
      <Time at={effectiveAt} zone={from.timezone} />. A transition period then runs from {span}, with the full allowance.
    </Notice>
  ) : (
    <Notice>
      <strong>A transition period runs</strong> from {span}, with the full allowance. It leads from {calendarWords(from)} to{' '}
      {calendarWords({ timezone, anchorDay })}.
    </Notice>
  );
}
