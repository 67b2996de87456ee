import type { ReactNode } from 'react';
import { Button, NumberInput, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { tierCreate } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors, slugMessage } from '../../../api/form-problem';
import { FormModal, type FormExit } from '../../../components/form-modal';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { tierKeys } from '../api/tier.queries';

export function CreateTier({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title="New tier">
      {(exit) => <TierForm exit={exit} />}
    </FormModal>
  );
}

/** Names a tier; its limits are drafted and published on its own page. */
function TierForm({ exit }: { readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const form = useForm<z.input<typeof tierCreate>, unknown, z.output<typeof tierCreate>>({
    resolver: zodResolver(tierCreate),
    defaultValues: { slug: '', name: '', weight: 1, support: '' },
  });
  const create = useMutation({
    mutationFn: (body: z.output<typeof tierCreate>) => call('tiersCreate', { body }),
    onSuccess: ({ slug }) => {
      void queryClient.invalidateQueries({ queryKey: tierKeys.all });
      exit.settle();
      exit.leave();
      void navigate({ to: '/tiers/$slug', params: { slug } });
    },
    onError: (error) => showFieldErrors(error, form.setError, ['slug', 'name', 'weight', 'support']),
  });
  const { errors } = form.formState;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput label="Slug" description="How the API and billing name it; it cannot change" required error={slugMessage(errors.slug)} {...form.register('slug')} />
      <TextInput label="Name" required error={errors.name ? 'Name it in 1 to 100 characters' : undefined} {...form.register('name')} />
      <Controller
        control={form.control}
        name="weight"
        render={({ field }) => (
          <NumberInput
            label="Weight under overload"
            description="0 to 1,000; kept for shedding load, which this release does not do yet"
            error={errors.weight ? 'A whole number from 0 to 1,000' : undefined}
            value={field.value === undefined || Number.isNaN(field.value) ? '' : field.value}
            onChange={(typed) => field.onChange(typed === '' ? Number.NaN : Number(typed))}
            onBlur={field.onBlur}
          />
        )}
      />
      <TextInput label="Support" description="Such as “answer within 4 h”; may stay empty" error={errors.support?.message} {...form.register('support')} />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={exit.leave}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Create tier
        </Button>
      </div>
    </form>
  );
}
