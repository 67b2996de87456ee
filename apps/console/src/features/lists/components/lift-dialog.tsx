import type { ReactNode } from 'react';
import { Button, Modal, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { liftQuery } from '@quotaplane/contracts';
import { useForm } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
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
  const form = useForm({ resolver: zodResolver(liftQuery), defaultValues: { reason: '' } });
  const lift = useLift();
  const submit = form.handleSubmit(({ reason }) =>
    lift.mutate(
      { listed, reason },
      {
        onSuccess: ({ changeId }) => {
          onClose();
          announceChange('Lifted', changeId);
        },
      },
    ),
  );
  return (
    <form className={layout.tight} noValidate onSubmit={submit}>
      {listed.ban ? <p className={classes.hint}>Its strikes are forgotten, too: the next ban is a first one again.</p> : null}
      {lift.error ? <ProblemNotice error={lift.error} /> : null}
      <TextInput
        label="Reason for lifting it"
        description="Kept in the audit log"
        required
        autoFocus
        error={form.formState.errors.reason ? 'Say why, in 3 to 500 characters' : undefined}
        {...form.register('reason')}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
        <Button type="submit" color="red" loading={lift.isPending}>
          Lift now
        </Button>
      </div>
    </form>
  );
}
