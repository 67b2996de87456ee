import type { ReactNode } from 'react';
import { Button, Checkbox, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { failMode, refundOutcome, type endpointClassCreate } from '@quotaplane/contracts';
import { Controller, type UseFormReturn } from 'react-hook-form';
import type { z } from 'zod';
import { slugMessage } from '../../../api/form-problem';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { FAIL_WORDS, REFUND_WORDS } from './fail-mode';
import { RetryFields } from './retry-fields';

export type ClassInput = z.input<typeof endpointClassCreate>;
export type ClassOutput = z.output<typeof endpointClassCreate>;

export type ClassFormState = UseFormReturn<ClassInput, unknown, ClassOutput>;

interface ClassFormProps {
  readonly form: ClassFormState;
  /** Its name is in the code of services, so it stays what it is. */
  readonly isSlugFixed: boolean;
  readonly action: string;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly onSubmit: (values: ClassOutput) => void;
  readonly onCancel: () => void;
}

/** The fields of an endpoint class, as the contract has them. */
export function ClassForm({ form, isSlugFixed, action, isSaving, problem, onSubmit, onCancel }: ClassFormProps): ReactNode {
  const { errors } = form.formState;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit(onSubmit)}>
      {problem ? <ProblemNotice error={problem} /> : null}
      <TextInput
        label="Slug"
        description={isSlugFixed ? 'Services name it in their code; it cannot change' : 'How services name it: @EndpointClass(’slug’); it cannot change'}
        required
        readOnly={isSlugFixed}
        error={slugMessage(errors.slug)}
        {...form.register('slug')}
      />
      <Controller
        control={form.control}
        name="cost"
        render={({ field }) => (
          <NumberInput
            label="Cost, units"
            description="What one call takes from limits and quota"
            min={0}
            error={errors.cost ? 'Enter whole units, 0 or more' : undefined}
            value={field.value === undefined || Number.isNaN(field.value) ? '' : field.value}
            onChange={(typed) => field.onChange(typed === '' ? Number.NaN : Number(typed))}
            onBlur={field.onBlur}
          />
        )}
      />
      <TextInput label="Meter" description="Which monthly quota it is counted against" error={slugMessage(errors.meter)} {...form.register('meter')} />
      <NativeSelect
        label="When the store is away"
        data={failMode.options.map((mode) => ({ value: mode, label: `${mode}: ${FAIL_WORDS[mode]}` }))}
        {...form.register('failMode')}
      />
      <Controller
        control={form.control}
        name="refundOn"
        render={({ field }) => (
          <Checkbox.Group
            label="Give the units back after"
            description="At most once a call; other outcomes keep what they cost"
            error={errors.refundOn?.message}
            value={field.value ?? []}
            onChange={field.onChange}
          >
            <div className={layout.row} style={{ marginTop: 6 }}>
              {refundOutcome.options.map((outcome) => (
                <Checkbox key={outcome} value={outcome} label={REFUND_WORDS[outcome]} />
              ))}
            </div>
          </Checkbox.Group>
        )}
      />
      <RetryFields form={form} />
      <Textarea label="Description" autosize minRows={2} error={errors.description?.message} {...form.register('description')} />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={isSaving}>
          {action}
        </Button>
      </div>
    </form>
  );
}
