import type { ReactNode } from 'react';
import { Button, Checkbox, NumberInput, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { EVENT_TYPES, webhookCreate } from '@quotaplane/contracts';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { showFieldErrors } from '../../../api/form-problem';
import { Disclosure } from '../../../components/disclosure';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { useCreateWebhook } from '../api/webhook.queries';
import { EVENT_WORDS, scheduleWords } from './webhook-words';
import classes from './webhooks.module.css';

interface WebhookFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}

const FIELDS = ['url', 'description', 'events', 'tenant', 'ratePerSecond', 'concurrency'] as const;

/** Where to, about what, and how fast at most. */
export function WebhookForm({ onCancel, onCreated }: WebhookFormProps): ReactNode {
  const form = useForm<z.input<typeof webhookCreate>, unknown, z.output<typeof webhookCreate>>({
    resolver: zodResolver(webhookCreate),
    defaultValues: { url: '', description: '', events: [...EVENT_TYPES], tenant: null, ratePerSecond: 10, concurrency: 4 },
  });
  const create = useCreateWebhook();
  const { errors } = form.formState;
  const submit = form.handleSubmit((body) =>
    create.mutate(body, {
      onSuccess: ({ secret }) => onCreated(secret),
      onError: (error) => showFieldErrors(error, form.setError, FIELDS),
    }),
  );
  return (
    <form className={layout.tight} noValidate onSubmit={submit}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput
        label="Address"
        description="Private and link-local addresses are refused unless the server allows them"
        placeholder="https://billing.example.com/hooks/quotaplane"
        type="url"
        required
        error={errors.url ? (errors.url.type === 'server' ? errors.url.message : 'An address that begins with https:// or http://') : undefined}
        {...form.register('url')}
      />
      <TextInput label="Description" description="What takes them up" error={errors.description?.message} {...form.register('description')} />
      <Controller
        control={form.control}
        name="events"
        render={({ field }) => (
          <Checkbox.Group label="Events" required error={errors.events ? 'Choose at least one event' : undefined} value={field.value} onChange={field.onChange}>
            <div className={classes.events}>
              {EVENT_TYPES.map((type) => (
                <Checkbox key={type} value={type} label={<code>{type}</code>} description={EVENT_WORDS[type]} />
              ))}
            </div>
          </Checkbox.Group>
        )}
      />
      <TextInput
        label="Tenant"
        description="Leave it empty for events of all tenants"
        error={errors.tenant ? (errors.tenant.type === 'server' ? errors.tenant.message : 'a slug such as acme') : undefined}
        {...form.register('tenant', { setValueAs: (typed: string | null) => typed?.trim() || null })}
      />
      <Disclosure label="Pace" isOpen={errors.ratePerSecond !== undefined || errors.concurrency !== undefined}>
        <div className={classes.line}>
          {(
            [
              ['ratePerSecond', 'Most deliveries a second', '1 to 1,000'],
              ['concurrency', 'Most at once', '1 to 100'],
            ] as const
          ).map(([name, label, range]) => (
            <Controller
              key={name}
              control={form.control}
              name={name}
              render={({ field }) => (
                <NumberInput
                  label={label}
                  description={range}
                  className={classes.grow}
                  error={errors[name] ? `A whole number, ${range}` : undefined}
                  value={field.value ?? ''}
                  onChange={field.onChange}
                  onBlur={field.onBlur}
                />
              )}
            />
          ))}
        </div>
      </Disclosure>
      <p className={classes.hint}>Tried {scheduleWords()}; then it is given up. A longer Retry-After is honoured, and 410 ends the endpoint.</p>
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={create.isPending}>
          Add endpoint
        </Button>
      </div>
    </form>
  );
}
