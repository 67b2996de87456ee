import type { ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { overrideRevert, type Override } from '@quotaplane/contracts';
import { useForm } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { useRevertOverride } from '../api/override.queries';

interface RevertFormProps {
  readonly override: Pick<Override, 'id' | 'tenant'>;
  /** Filled in, to be changed or kept. */
  readonly reason: string;
  readonly onCancel: () => void;
  readonly onReverted: (changeId: string) => void;
}

export function RevertForm({ override, reason, onCancel, onReverted }: RevertFormProps): ReactNode {
  const form = useForm({ resolver: zodResolver(overrideRevert), defaultValues: { reason: reason.slice(0, 500) } });
  const revert = useRevertOverride();
  const submit = form.handleSubmit((values) =>
    revert.mutate({ override, reason: values.reason }, { onSuccess: ({ changeId }) => onReverted(changeId) }),
  );
  return (
    <form className={layout.tight} noValidate onSubmit={submit}>
      {revert.error ? <ProblemNotice error={revert.error} /> : null}
      <TextInput
        label="Reason for reverting"
        required
        autoFocus
        error={form.formState.errors.reason ? 'Say why, in 3 to 500 characters' : undefined}
        {...form.register('reason')}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Keep it
        </Button>
        <Button type="submit" color="red" loading={revert.isPending}>
          Revert now
        </Button>
      </div>
    </form>
  );
}
