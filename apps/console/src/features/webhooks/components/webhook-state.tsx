import type { ReactNode } from 'react';
import { IconClock, IconPlayerPause, IconRefresh } from '@tabler/icons-react';
import type { Webhook, WebhookDelivery } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';

export function WebhookStatus({ webhook: { status, disabledReason } }: { readonly webhook: Webhook }): ReactNode {
  switch (status) {
    case 'active':
      return <Badge tone="good">active</Badge>;
    case 'disabled':
      return (
        <Badge icon={<IconPlayerPause size={12} aria-hidden />} title={disabledReason ?? undefined}>
          disabled
        </Badge>
      );
    case 'gone':
      return (
        <Badge tone="bad" title={disabledReason ?? undefined}>
          gone: it answered 410
        </Badge>
      );
  }
}

export function DeliveryStateBadge({ delivery: { state, attempts } }: { readonly delivery: WebhookDelivery }): ReactNode {
  switch (state) {
    case 'delivered':
      return <Badge tone="good">delivered</Badge>;
    case 'pending':
    case 'failed':
      return attempts === 0 ? (
        <Badge icon={<IconClock size={12} aria-hidden />}>waiting</Badge>
      ) : (
        <Badge tone="warn" icon={<IconRefresh size={12} aria-hidden />}>
          {attempts === 1 ? 'failed once' : `failed ${attempts} times`}
        </Badge>
      );
    case 'given-up':
      return <Badge tone="bad">given up</Badge>;
  }
}
