import type { ReactNode } from 'react';
import { Button, Input, MultiSelect, SegmentedControl, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { PLATFORM_ONLY_AREAS, RIGHTS, tokenCreate } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { settingsKeys } from '../api/settings.queries';

interface TokenFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}

const BINDINGS = [
  { value: 'platform', label: 'All tenants' },
  { value: 'tenant', label: 'One tenant' },
];

/** A token with the fewest rights that do, for all tenants or one. */
export function TokenForm({ onCancel, onCreated }: TokenFormProps): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<z.input<typeof tokenCreate>, unknown, z.output<typeof tokenCreate>>({
    resolver: zodResolver(tokenCreate),
    defaultValues: { name: '', scopes: [], binding: { kind: 'platform' } },
  });
  const create = useMutation({
    mutationFn: (body: z.output<typeof tokenCreate>) => call('tokensCreate', { body }),
    onSuccess: ({ secret }) => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.tokens() });
      onCreated(secret);
    },
    onError: (error) => showFieldErrors(error, form.setError, ['name', 'scopes', 'binding']),
  });
  const { errors } = form.formState;
  const binding = form.watch('binding');
  // A token of one tenant can never hold rights over everyone.
  const rights = binding.kind === 'platform' ? RIGHTS : RIGHTS.filter((right) => !PLATFORM_ONLY_AREAS.some((area) => right.startsWith(`${area}:`)));
  const tenantError = form.getFieldState('binding.tenant', form.formState).error?.message;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput
        label="Name"
        description="Which program uses it"
        required
        error={errors.name ? 'Name it in 1 to 100 characters' : undefined}
        {...form.register('name')}
      />
      <Controller
        control={form.control}
        name="binding"
        render={({ field }) => (
          <Input.Wrapper label="Sees" labelElement="div">
            <div>
              <SegmentedControl
                size="xs"
                aria-label="Sees"
                data={BINDINGS}
                value={field.value.kind}
                onChange={(kind) => {
                  field.onChange(kind === 'tenant' ? { kind: 'tenant', tenant: '' } : { kind: 'platform' });
                  form.setValue('scopes', []);
                }}
              />
            </div>
          </Input.Wrapper>
        )}
      />
      {binding.kind === 'tenant' ? <TextInput label="Tenant" required error={tenantError} {...form.register('binding.tenant')} /> : null}
      <Controller
        control={form.control}
        name="scopes"
        render={({ field }) => (
          <MultiSelect
            label="Rights"
            description="The fewest that do"
            required
            searchable
            data={[...rights]}
            error={errors.scopes ? 'Choose at least one right' : undefined}
            value={field.value}
            onChange={field.onChange}
          />
        )}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Create token
        </Button>
      </div>
    </form>
  );
}
