import { useState, type ReactNode } from 'react';
import { Button, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { operatorCreate, operatorRole, type Operator } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconPlus } from '@tabler/icons-react';
import { useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { Badge } from '../../../components/badge';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { FormModal, type FormExit } from '../../../components/form-modal';
import { Loaded } from '../../../components/loaded';
import { ProblemNotice } from '../../../components/notices';
import { Panel } from '../../../components/page';
import { useCan } from '../../session/api/session.queries';
import { operatorsQuery, settingsKeys } from '../api/settings.queries';
import classes from './settings.module.css';

export function Operators(): ReactNode {
  const operators = useQuery(operatorsQuery);
  const mayWrite = useCan('operators:write');
  const [isAdding, setAdding] = useState(false);
  const [changing, setChanging] = useState<Operator>();
  return (
    <Panel
      title="Operators"
      isFlush
      actions={
        mayWrite ? (
          <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setAdding(true)}>
            Add operator
          </Button>
        ) : null
      }
    >
      <Loaded query={operators}>
        {({ items }) => (
          <ul className={classes.list}>
            {items.map((operator) => (
              <li key={operator.id} className={classes.item}>
                <div className={classes.main}>
                  <strong>{operator.name}</strong>
                  <span className={classes.sub}>{operator.email}</span>
                </div>
                <Badge>{operator.role}</Badge>
                {operator.disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">active</Badge>}
                <span className={classes.sub}>
                  since <Time at={operator.createdAt} as="day" />
                </span>
                {mayWrite ? (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="gray"
                    aria-label={`${operator.disabled ? 'Enable' : 'Disable'} ${operator.name}`}
                    onClick={() => setChanging(operator)}
                  >
                    {operator.disabled ? 'Enable' : 'Disable'}
                  </Button>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <FormModal isOpen={isAdding} onClose={() => setAdding(false)} title="Add an operator">
        {(exit) => <OperatorForm exit={exit} />}
      </FormModal>
      <SwitchOperator operator={changing} onClose={() => setChanging(undefined)} />
    </Panel>
  );
}

function OperatorForm({ exit }: { readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<z.input<typeof operatorCreate>, unknown, z.output<typeof operatorCreate>>({
    resolver: zodResolver(operatorCreate),
    defaultValues: { email: '', name: '', role: 'support', password: '' },
  });
  const create = useMutation({
    mutationFn: (body: z.output<typeof operatorCreate>) => call('operatorsCreate', { body }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.operators() });
      exit.settle();
      exit.leave();
    },
    onError: (error) => showFieldErrors(error, form.setError, ['email', 'name', 'role', 'password']),
  });
  const { errors } = form.formState;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput label="Email" type="email" required error={errors.email?.message} {...form.register('email')} />
      <TextInput label="Name" required error={errors.name?.message} {...form.register('name')} />
      <NativeSelect label="Role" data={[...operatorRole.options]} {...form.register('role')} />
      <PasswordInput
        label="First password"
        description="12 characters or more"
        autoComplete="new-password"
        required
        error={errors.password?.message}
        visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
        {...form.register('password')}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={exit.leave}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Add operator
        </Button>
      </div>
    </form>
  );
}

function SwitchOperator({ operator, onClose }: { readonly operator: Operator | undefined; readonly onClose: () => void }): ReactNode {
  const queryClient = useQueryClient();
  const patch = useMutation({
    mutationFn: ({ id, version, disabled }: Operator) =>
      call('operatorsPatch', { params: { id }, body: { disabled: !disabled }, ifVersion: version }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.operators() });
      onClose();
    },
  });
  const verb = operator?.disabled ? 'Enable' : 'Disable';
  return (
    <ConfirmDialog
      isOpen={operator !== undefined}
      title={`${verb} ${operator?.name ?? ''}?`}
      action={verb}
      isDangerous={!operator?.disabled}
      isRunning={patch.isPending}
      problem={patch.error}
      onClose={onClose}
      onConfirm={() => operator && patch.mutate(operator)}
    >
      {operator?.disabled ? 'They can sign in again.' : 'Their sessions end at once and they cannot sign in.'}
    </ConfirmDialog>
  );
}
