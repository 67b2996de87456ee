import type { ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { apiKeyCreate } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { announceChange } from '../../rollout/components/announce-change';
import { tenantKeys } from '../api/tenant.queries';

interface KeyFormProps {
  readonly tenant: string;
  readonly onCancel: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}

export function KeyForm({ tenant, onCancel, onCreated }: KeyFormProps): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<z.input<typeof apiKeyCreate>, unknown, z.output<typeof apiKeyCreate>>({
    resolver: zodResolver(apiKeyCreate),
    defaultValues: { name: '' },
  });
  const create = useMutation({
    mutationFn: (body: z.output<typeof apiKeyCreate>) => call('keysCreate', { params: { slug: tenant }, body }),
    onSuccess: (key) => {
      void queryClient.invalidateQueries({ queryKey: tenantKeys.keys(tenant) });
      announceChange(`Key ${key.name} created`, key.changeId);
      onCreated(key.secret);
    },
    onError: (error) => showFieldErrors(error, form.setError, ['name', 'userId']),
  });
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput
        label="Name"
        description="What it is for, such as: production backend"
        required
        error={form.formState.errors.name ? 'Name it in 1 to 100 characters' : undefined}
        {...form.register('name')}
      />
      <TextInput
        label="User id"
        description="Only for a key that stands for one user of the tenant"
        error={form.formState.errors.userId?.message}
        {...form.register('userId', { setValueAs: (value: string | undefined) => value || undefined })}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Create key
        </Button>
      </div>
    </form>
  );
}
