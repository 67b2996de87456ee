import type { ReactNode } from 'react';
import type { TopUp } from '@quotaplane/contracts';
import { ReasonForm } from '../../../components/reason-form';
import { useWithdrawTopUp } from '../api/top-up.queries';

interface WithdrawFormProps {
  readonly topUp: TopUp;
  /** Filled in, to be changed or kept. */
  readonly reason: string;
  readonly onCancel: () => void;
  readonly onWithdrawn: (changeId: string) => void;
}

/** Takes back what is left of a grant; what was drawn of it stays drawn. */
export function WithdrawForm({ topUp, reason, onCancel, onWithdrawn }: WithdrawFormProps): ReactNode {
  const withdraw = useWithdrawTopUp();
  return (
    <ReasonForm
      label="Reason for withdrawing"
      action="Withdraw now"
      cancel="Keep it"
      reason={reason}
      isRunning={withdraw.isPending}
      problem={withdraw.error}
      onCancel={onCancel}
      onSubmit={(given) => withdraw.mutate({ topUp, reason: given }, { onSuccess: ({ changeId }) => onWithdrawn(changeId) })}
    />
  );
}
