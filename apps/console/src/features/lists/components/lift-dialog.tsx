import type { ReactNode } from 'react';
import { Modal } from '@mantine/core';
import layout from '../../../components/layout.module.css';
import { ReasonForm } from '../../../components/reason-form';
import { announceChange } from '../../rollout/components/announce-change';
import { useLift } from '../api/list.queries';
import { listedWords, type Listed } from './listed';
import classes from './lists.module.css';

interface LiftDialogProps {
  /** What is to be lifted; undefined keeps the dialog shut. */
  readonly listed: Listed | undefined;
  readonly onClose: () => void;
}

/** Ends an entry or a ban now, with a reason. */
export function LiftDialog({ listed, onClose }: LiftDialogProps): ReactNode {
  return (
    <Modal opened={listed !== undefined} onClose={onClose} title={listed ? `Lift the ${TITLES[listed.list]} of ${listedWords(listed)}` : ''}>
      {listed ? <LiftForm key={listed.id} listed={listed} onClose={onClose} /> : null}
    </Modal>
  );
}

const TITLES = { penalty: 'penalty', deny: 'denial', allow: 'allowance' } as const;

function LiftForm({ listed, onClose }: { readonly listed: Listed; readonly onClose: () => void }): ReactNode {
  const lift = useLift();
  const submit = (reason: string): void =>
    lift.mutate(
      { listed, reason },
      {
        onSuccess: ({ changeId }) => {
          onClose();
          announceChange('Lifted', changeId);
        },
      },
    );
  return (
    <div className={layout.tight}>
      {listed.ban ? <p className={classes.hint}>Its strikes are forgotten, too: the next ban is a first one again.</p> : null}
      <ReasonForm
        label="Reason for lifting it"
        action="Lift now"
        cancel="Keep it"
        isRunning={lift.isPending}
        problem={lift.error}
        onCancel={onClose}
        onSubmit={submit}
      />
    </div>
  );
}
