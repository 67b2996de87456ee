import type { ReactNode } from 'react';
import { IconClock, IconHistory, IconPlayerPlay } from '@tabler/icons-react';
import type { Override } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { formatSpan } from '../../../format/time';
import { useNow } from '../../../components/use-now';

/** State of an override by the clock: an end that has passed shows at once, not at the next refresh. */
export function stateAt(override: Pick<Override, 'state' | 'from' | 'until'>, nowMs: number): Override['state'] {
  if (override.state === 'reverted') return 'reverted';
  if (override.until !== null && Date.parse(override.until) <= nowMs) return 'ended';
  return Date.parse(override.from) > nowMs ? 'scheduled' : 'active';
}

/** In force or to come, and so to be reverted. */
export function isOpenAt(override: Pick<Override, 'state' | 'from' | 'until'>, nowMs: number): boolean {
  return ['active', 'scheduled'].includes(stateAt(override, nowMs));
}

export function OverrideStateBadge({ override }: { readonly override: Override }): ReactNode {
  const nowMs = useNow();
  switch (stateAt(override, nowMs)) {
    case 'scheduled':
      return (
        <Badge tone="warn" icon={<IconClock size={12} aria-hidden />}>
          starts in {formatSpan(Date.parse(override.from) - nowMs)}
        </Badge>
      );
    case 'active':
      return (
        <Badge tone="good" icon={<IconPlayerPlay size={12} aria-hidden />}>
          {override.until === null ? 'active, no end' : `active, ${formatSpan(Date.parse(override.until) - nowMs)} left`}
        </Badge>
      );
    case 'ended':
      return <Badge icon={<IconHistory size={12} aria-hidden />}>ended</Badge>;
    case 'reverted':
      return <Badge icon={<IconHistory size={12} aria-hidden />}>reverted</Badge>;
  }
}
