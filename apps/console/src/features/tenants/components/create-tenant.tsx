import type { ReactNode } from 'react';
import { Button, NumberInput, Select, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { tenantCreate } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors, slugMessage } from '../../../api/form-problem';
import { FormModal, type FormExit } from '../../../components/form-modal';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { announceChange } from '../../rollout/components/announce-change';
import { tierListQuery } from '../../tiers/api/tier.queries';
import { tenantKeys } from '../api/tenant.queries';
import { ZONES } from './zones';

export function CreateTenant({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title="New tenant">
      {(exit) => <TenantForm exit={exit} />}
    </FormModal>
  );
}

function TenantForm({ exit }: { readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const tiers = useQuery(tierListQuery);
  const form = useForm<z.input<typeof tenantCreate>, unknown, z.output<typeof tenantCreate>>({
    resolver: zodResolver(tenantCreate),
    defaultValues: { slug: '', name: '', tier: '', timezone: 'UTC', anchorDay: 1 },
  });
  const create = useMutation({
    mutationFn: (body: z.output<typeof tenantCreate>) => call('tenantsCreate', { body }),
    onSuccess: (tenant) => {
      void queryClient.invalidateQueries({ queryKey: tenantKeys.all });
      announceChange(`${tenant.slug} created`, tenant.changeId);
      exit.settle();
      exit.leave();
      void navigate({ to: '/tenants/$slug', params: { slug: tenant.slug } });
    },
    onError: (error) => showFieldErrors(error, form.setError, ['slug', 'name', 'tier', 'timezone', 'anchorDay']),
  });
  const { errors } = form.formState;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput
        label="Slug"
        description="How services and billing name it; it cannot change"
        required
        error={slugMessage(errors.slug)}
        {...form.register('slug')}
      />
      <TextInput label="Name" required error={errors.name?.message} {...form.register('name')} />
      <Controller
        control={form.control}
        name="tier"
        render={({ field }) => (
          <Select
            label="Tier"
            required
            searchable
            error={errors.tier?.message}
            data={tiers.data?.items.filter((tier) => tier.archivedAt === null).map((tier) => ({ value: tier.slug, label: tier.name })) ?? []}
            value={field.value || null}
            onChange={(tier) => field.onChange(tier ?? '')}
            onBlur={field.onBlur}
          />
        )}
      />
      <Controller
        control={form.control}
        name="timezone"
        render={({ field }) => (
          <Select
            label="Time zone"
            description="Billing periods start at local midnight there"
            searchable
            error={errors.timezone?.message}
            data={[...ZONES]}
            limit={50}
            value={field.value ?? 'UTC'}
            onChange={(zone) => field.onChange(zone ?? 'UTC')}
          />
        )}
      />
      <Controller
        control={form.control}
        name="anchorDay"
        render={({ field }) => (
          <NumberInput
            label="Period starts on day"
            description="1 to 31; short months start on their last day"
            min={1}
            max={31}
            error={errors.anchorDay ? 'A day from 1 to 31' : undefined}
            value={field.value ?? 1}
            onChange={(day) => field.onChange(Number(day))}
          />
        )}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={exit.leave}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Create tenant
        </Button>
      </div>
    </form>
  );
}
