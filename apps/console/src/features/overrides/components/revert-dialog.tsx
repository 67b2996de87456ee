import type { ReactNode } from 'react';
import { Modal } from '@mantine/core';
import type { Override } from '@quotaplane/contracts';
import { announceChange } from '../../rollout/components/announce-change';
import { RevertForm } from './revert-form';
import { subjectWords } from './subject-label';

interface RevertDialogProps {
  /** What is to be reverted; undefined keeps the dialog shut. */
  readonly override: Override | undefined;
  readonly onClose: () => void;
}

/** Ends an override now, with a reason. */
export function RevertDialog({ override, onClose }: RevertDialogProps): ReactNode {
  return (
    <Modal opened={override !== undefined} onClose={onClose} title={override ? `Revert an override of ${subjectWords(override)}` : ''}>
      {override ? (
        <RevertForm
          override={override}
          reason=""
          onCancel={onClose}
          onReverted={(changeId) => {
            onClose();
            announceChange('Override reverted', changeId);
          }}
        />
      ) : null}
    </Modal>
  );
}
