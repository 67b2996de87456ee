import type { ReactNode } from 'react';
import { Modal } from '@mantine/core';
import type { TopUp } from '@quotaplane/contracts';
import { formatCount } from '../../../format/number';
import { announceChange } from '../../rollout/components/announce-change';
import { WithdrawForm } from './withdraw-form';

interface WithdrawDialogProps {
  /** What is to be withdrawn; undefined keeps the dialog shut. */
  readonly topUp: TopUp | undefined;
  readonly onClose: () => void;
}

/** Takes back what is left of a grant, with a reason. */
export function WithdrawDialog({ topUp, onClose }: WithdrawDialogProps): ReactNode {
  return (
    <Modal opened={topUp !== undefined} onClose={onClose} title={topUp ? `Withdraw ${formatCount(topUp.remaining)} units of ${topUp.meter}` : ''}>
      {topUp ? (
        <WithdrawForm
          topUp={topUp}
          reason=""
          onCancel={onClose}
          onWithdrawn={(changeId) => {
            onClose();
            announceChange('Top-up withdrawn', changeId);
          }}
        />
      ) : null}
    </Modal>
  );
}
