import type { ReactNode } from 'react';
import type { TenantStatus } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';

export function TenantStatusBadge({ status }: { readonly status: TenantStatus }): ReactNode {
  return status === 'active' ? <Badge tone="good">active</Badge> : <Badge tone="bad">suspended</Badge>;
}
