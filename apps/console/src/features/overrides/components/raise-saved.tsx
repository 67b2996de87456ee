import type { ReactNode } from 'react';
import type { Override } from '@quotaplane/contracts';
import { SavedChange } from '../../rollout/components/saved-change';
import { RevertForm } from './revert-form';

interface RaiseSavedProps {
  readonly override: Override & { readonly changeId: string };
  readonly zone: string;
  readonly onClose: () => void;
}

const WORDS = { ends: 'It ends by itself', stays: 'It stays until someone reverts it.', undone: 'Undone: the tier’s numbers are back.' } as const;

/** Third step: where it is live, and the way back. */
export function RaiseSaved({ override, zone, onClose }: RaiseSavedProps): ReactNode {
  return (
    <SavedChange
      changeId={override.changeId}
      until={override.until}
      zone={zone}
      words={WORDS}
      undo={({ onCancel, onUndone }) => <RevertForm override={override} reason={`Undo: ${override.reason}`} onCancel={onCancel} onReverted={onUndone} />}
      onClose={onClose}
    />
  );
}
