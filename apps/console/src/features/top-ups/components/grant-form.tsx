import type { ReactNode } from 'react';
import { Button, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { MAX_EXACT, type TenantPolicy } from '@quotaplane/contracts';
import { Controller, type UseFormReturn } from 'react-hook-form';
import { Disclosure } from '../../../components/disclosure';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import type { NewTopUp } from '../api/top-up.queries';
import { GrantEffect } from './grant-effect';
import { GrantEnd } from './grant-end';
import { grantableMeters, type GrantValues } from './grant-values';
import classes from './top-ups.module.css';

export type GrantFormState = UseFormReturn<GrantValues, unknown, NewTopUp>;

interface GrantFormProps {
  readonly form: GrantFormState;
  readonly tenant: string;
  readonly policy: TenantPolicy;
  readonly problem: unknown;
  readonly onReview: (grant: NewTopUp) => void;
  readonly onCancel: () => void;
}

/** First step: how much, until when and why. */
export function GrantForm({ form, tenant, policy, problem, onReview, onCancel }: GrantFormProps): ReactNode {
  const { errors } = form.formState;
  const [meter, units] = form.watch(['meter', 'units']);
  return (
    <form className={classes.form} noValidate onSubmit={form.handleSubmit(onReview)}>
      {problem ? <ProblemNotice error={problem} /> : null}
      <div className={classes.line}>
        <NativeSelect label="Meter" className={classes.grow} data={grantableMeters(policy)} error={errors.meter?.message} {...form.register('meter')} />
        <Controller
          control={form.control}
          name="units"
          render={({ field }) => (
            <NumberInput
              label="Units to grant"
              required
              autoFocus
              data-autofocus
              min={1}
              max={MAX_EXACT}
              className={classes.grow}
              error={errors.units?.message}
              value={field.value}
              onChange={field.onChange}
              onBlur={field.onBlur}
            />
          )}
        />
      </div>
      <GrantEffect tenant={tenant} meter={meter} units={units} />
      <GrantEnd form={form} policy={policy} />
      <div className={classes.line}>
        <Textarea
          label="Reason"
          description="Kept in the audit log; the next colleague reads it"
          required
          autosize
          minRows={2}
          className={classes.wide}
          error={errors.reason?.message}
          {...form.register('reason')}
        />
        <TextInput
          label="Ticket"
          description="May stay empty"
          placeholder="SUP-1234"
          className={classes.grow}
          error={errors.ticket?.message}
          {...form.register('ticket')}
        />
      </div>
      <Disclosure label="Start and order" isOpen={errors.startsAt !== undefined || errors.priority !== undefined}>
        <div className={classes.line}>
          <TextInput
            type="datetime-local"
            label={`Starts (${policy.timezone})`}
            description="Leave it empty to start now"
            className={classes.grow}
            error={errors.startsAt?.message}
            {...form.register('startsAt')}
          />
          <Controller
            control={form.control}
            name="priority"
            render={({ field }) => (
              <NumberInput
                label="Priority"
                description="0 to 255; lower ones are spent first"
                min={0}
                max={255}
                className={classes.grow}
                error={errors.priority?.message}
                value={field.value}
                onChange={field.onChange}
                onBlur={field.onBlur}
              />
            )}
          />
        </div>
      </Disclosure>
      <div className={classes.foot}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit">Review</Button>
      </div>
    </form>
  );
}
