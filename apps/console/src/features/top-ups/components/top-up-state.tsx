import type { ReactNode } from 'react';
import { IconCheck, IconClock, IconHistory, IconPlayerPlay } from '@tabler/icons-react';
import type { TopUp, TopUpState } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { useNow } from '../../../components/use-now';
import { formatSpan } from '../../../format/time';

/** State of a grant by the clock: an end that has passed shows at once, not at the next refresh. */
export function topUpStateAt({ state, from, expiresAt }: Pick<TopUp, 'state' | 'from' | 'expiresAt'>, nowMs: number): TopUpState {
  if (state === 'withdrawn' || state === 'spent') return state;
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) return 'expired';
  return Date.parse(from) > nowMs ? 'scheduled' : 'active';
}

/** Something is left of it to withdraw. */
export const isOpenAt = (topUp: Pick<TopUp, 'state' | 'from' | 'expiresAt'>, nowMs: number): boolean => ['active', 'scheduled'].includes(topUpStateAt(topUp, nowMs));

export function TopUpStateBadge({ topUp }: { readonly topUp: TopUp }): ReactNode {
  const nowMs = useNow();
  const state = topUpStateAt(topUp, nowMs);
  switch (state) {
    case 'scheduled':
      return (
        <Badge tone="warn" icon={<IconClock size={12} aria-hidden />}>
          starts in {formatSpan(Date.parse(topUp.from) - nowMs)}
        </Badge>
      );
    case 'active':
      return (
        <Badge tone="good" icon={<IconPlayerPlay size={12} aria-hidden />}>
          {topUp.expiresAt === null ? 'active until spent' : `active, ${formatSpan(Date.parse(topUp.expiresAt) - nowMs)} left`}
        </Badge>
      );
    case 'spent':
      return <Badge icon={<IconCheck size={12} aria-hidden />}>spent</Badge>;
    default:
      return <Badge icon={<IconHistory size={12} aria-hidden />}>{state}</Badge>;
  }
}
