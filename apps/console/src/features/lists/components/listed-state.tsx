import type { ReactNode } from 'react';
import { IconClock, IconHistory, IconPlayerPlay } from '@tabler/icons-react';
import { Badge } from '../../../components/badge';
import { useNow } from '../../../components/use-now';
import { formatSpan } from '../../../format/time';
import { stateAt, type Listed } from './listed';

/** Where an entry is in its life, with a countdown while it has an end. */
export function ListedState({ listed }: { readonly listed: Listed }): ReactNode {
  const nowMs = useNow();
  const state = stateAt(listed, nowMs);
  if (state === 'scheduled') {
    return (
      <Badge tone="warn" icon={<IconClock size={12} aria-hidden />}>
        starts in {formatSpan(Date.parse(listed.from) - nowMs)}
      </Badge>
    );
  }
  if (state === 'active') {
    return (
      <Badge tone={listed.list === 'allow' ? 'good' : 'bad'} icon={<IconPlayerPlay size={12} aria-hidden />}>
        {listed.until === null ? 'runs, no end' : `runs, ${formatSpan(Date.parse(listed.until) - nowMs)} left`}
      </Badge>
    );
  }
  return <Badge icon={<IconHistory size={12} aria-hidden />}>{state === 'lifted' ? `lifted by ${listed.liftedBy ?? '?'}` : 'ended'}</Badge>;
}
