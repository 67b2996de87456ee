import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { UsageItem } from '@quotaplane/contracts';
import { useCan } from '../../session/api/session.queries';
import { ClosePeriod, type EndedPeriod } from './close-period';

/** Offers to close a period that has ended; nothing for one that runs or is closed. */
export function CloseLink({ item }: { readonly item: EndedPeriod & Pick<UsageItem, 'status'> }): ReactNode {
  const mayClose = useCan('usage:write');
  const [closing, setClosing] = useState<EndedPeriod>();
  if (item.status !== 'ended' || !mayClose) return null;
  return (
    <div>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconLock size={14} />}
        aria-label={`Close ${item.period.id} of ${item.tenant}`}
        onClick={() => setClosing(item)}
      >
        Close the period
      </Button>
      <ClosePeriod ended={closing} onClose={() => setClosing(undefined)} />
    </div>
  );
}
