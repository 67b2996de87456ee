import type { ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { topUpWithdrawal } from '@quotaplane/contracts';
import { useForm } from 'react-hook-form';
import { ProblemNotice } from './notices';
import layout from './layout.module.css';

interface ReasonFormProps {
  readonly label: string;
  /** The verb of the button that does it. */
  readonly action: string;
  readonly cancel: string;
  /** Filled in, to be changed or kept. */
  readonly reason?: string;
  readonly isRunning: boolean;
  readonly problem: unknown;
  readonly onCancel: () => void;
  readonly onSubmit: (reason: string) => void;
}

/** Ends something before its time: all that it takes is a reason. */
export function ReasonForm({ label, action, cancel, reason = '', isRunning, problem, onCancel, onSubmit }: ReasonFormProps): ReactNode {
  const form = useForm({ resolver: zodResolver(topUpWithdrawal), defaultValues: { reason: reason.slice(0, 500) } });
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => onSubmit(values.reason))}>
      {problem ? <ProblemNotice error={problem} /> : null}
      <TextInput
        label={label}
        description="Kept in the audit log"
        required
        autoFocus
        data-autofocus
        error={form.formState.errors.reason ? 'Say why, in 3 to 500 characters' : undefined}
        {...form.register('reason')}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          {cancel}
        </Button>
        <Button type="submit" color="red" loading={isRunning}>
          {action}
        </Button>
      </div>
    </form>
  );
}
