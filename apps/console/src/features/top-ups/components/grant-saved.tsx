import type { ReactNode } from 'react';
import type { TopUp } from '@quotaplane/contracts';
import { SavedChange } from '../../rollout/components/saved-change';
import { WithdrawForm } from './withdraw-form';

interface GrantSavedProps {
  readonly topUp: TopUp & { readonly changeId: string };
  readonly zone: string;
  readonly onClose: () => void;
}

const WORDS = { ends: 'What is left of it lapses', stays: 'It lasts until it is spent.', undone: 'Withdrawn: what was not drawn is gone again.' } as const;

/** Third step: where it is live, and the way back. */
export function GrantSaved({ topUp, zone, onClose }: GrantSavedProps): ReactNode {
  return (
    <SavedChange
      changeId={topUp.changeId}
      until={topUp.expiresAt}
      zone={zone}
      words={WORDS}
      undo={({ onCancel, onUndone }) => <WithdrawForm topUp={topUp} reason={`Undo: ${topUp.reason}`} onCancel={onCancel} onWithdrawn={onUndone} />}
      onClose={onClose}
    />
  );
}
