import type { ReactNode } from 'react';
import { Badge, DashedIcon } from '../../../components/badge';
import type { Verdict } from './reconciliation-words';

const WORDS = {
  statement: { agree: 'stores agree', differ: 'stores differ', alone: 'nothing to compare' },
  meter: { agree: 'all agree', differ: 'they differ', alone: 'only the ledger is left' },
} as const;

/** Whether the three stores told the same at closing: in words, with an icon, and only then by colour. */
export function ReconciledBadge({ verdict, of }: { readonly verdict: Verdict; readonly of: keyof typeof WORDS }): ReactNode {
  const words = WORDS[of][verdict];
  if (verdict === 'alone') return <Badge icon={DashedIcon}>{words}</Badge>;
  return <Badge tone={verdict === 'agree' ? 'good' : 'warn'}>{words}</Badge>;
}
