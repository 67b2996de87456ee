import type { ReactNode } from 'react';
import type { Statement } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { agreesThroughout } from './reconciliation-words';

/** Whether the three stores told the same at closing. */
export function ReconciledBadge({ statement }: { readonly statement: Pick<Statement, 'reconciliation'> }): ReactNode {
  return agreesThroughout(statement) ? <Badge tone="good">stores agree</Badge> : <Badge tone="warn">stores differ</Badge>;
}
