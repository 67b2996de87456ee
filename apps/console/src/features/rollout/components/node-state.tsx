import type { ReactNode } from 'react';
import type { Node } from '@quotaplane/contracts';
import { Badge, DashedIcon } from '../../../components/badge';
import { useNow } from '../../../components/use-now';

/** After this long, in ms, silence is a node that is gone rather than one in trouble. */
const GONE_MS = 60_000;

export function NodeState({ node }: { readonly node: Node }): ReactNode {
  const nowMs = useNow();
  if (!node.alive) {
    const isGone = nowMs - Date.parse(node.lastSeen) > GONE_MS;
    return isGone ? <Badge icon={DashedIcon}>silent</Badge> : <Badge tone="warn">silent</Badge>;
  }
  return node.mode === 'healthy' ? <Badge tone="good">healthy</Badge> : <Badge tone="warn">degraded</Badge>;
}
