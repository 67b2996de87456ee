import type { ReactNode } from 'react';
import type { Override } from '@quotaplane/contracts';
import { ReasonForm } from '../../../components/reason-form';
import { useRevertOverride } from '../api/override.queries';

interface RevertFormProps {
  readonly override: Pick<Override, 'id' | 'tenant'>;
  /** Filled in, to be changed or kept. */
  readonly reason: string;
  readonly onCancel: () => void;
  readonly onReverted: (changeId: string) => void;
}

export function RevertForm({ override, reason, onCancel, onReverted }: RevertFormProps): ReactNode {
  const revert = useRevertOverride();
  return (
    <ReasonForm
      label="Reason for reverting"
      action="Revert now"
      cancel="Keep it"
      reason={reason}
      isRunning={revert.isPending}
      problem={revert.error}
      onCancel={onCancel}
      onSubmit={(given) => revert.mutate({ override, reason: given }, { onSuccess: ({ changeId }) => onReverted(changeId) })}
    />
  );
}
