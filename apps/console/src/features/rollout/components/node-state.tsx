import type { ReactNode } from 'react';
import type { Node } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';

export function NodeState({ node }: { readonly node: Node }): ReactNode {
  if (!node.alive) return <Badge tone="bad">silent</Badge>;
  return node.mode === 'healthy' ? <Badge tone="good">healthy</Badge> : <Badge tone="warn">degraded</Badge>;
}
