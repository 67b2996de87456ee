import { useState, type ReactNode } from 'react';
import { NumberInput, Switch, TextInput } from '@mantine/core';
import { Controller } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { formatWindow, parseWindow } from '../../../format/number';
import type { ClassFormState } from './class-form';

const DEFAULT = { cost: 0, windowMs: 60_000, max: 3 };

/** What a repeat with the same Idempotency-Key costs; without it, it is a new call. */
export function RetryFields({ form }: { readonly form: ClassFormState }): ReactNode {
  const retry = form.watch('retry');
  const errors = form.formState.errors.retry;
  const [window, setWindow] = useState(formatWindow(retry?.windowMs ?? DEFAULT.windowMs));
  const hasRetry = retry !== null && retry !== undefined;
  return (
    <>
      <Switch
        label="Cheaper repeats"
        description="A call with the Idempotency-Key of an earlier one, from the same caller on the same route"
        checked={hasRetry}
        onChange={(event) => form.setValue('retry', event.currentTarget.checked ? { ...DEFAULT, windowMs: parseWindow(window) ?? DEFAULT.windowMs } : null, { shouldDirty: true })}
      />
      {hasRetry ? (
        <div className={layout.row} style={{ alignItems: 'flex-start' }}>
          <Units form={form} name="retry.cost" label="Costs, units" error={errors?.cost ? 'Whole units, 0 or more' : undefined} />
          <TextInput
            label="Within"
            w={90}
            placeholder="1m"
            error={errors?.windowMs ? 'such as 1m, up to 1d' : undefined}
            value={window}
            onChange={({ currentTarget: { value } }) => {
              setWindow(value);
              form.setValue('retry.windowMs', parseWindow(value) ?? Number.NaN, { shouldValidate: form.formState.isSubmitted });
            }}
          />
          <Units form={form} name="retry.max" label="Times at most" error={errors?.max ? '1 to 100' : undefined} />
        </div>
      ) : null}
    </>
  );
}

interface UnitsProps {
  readonly form: ClassFormState;
  readonly name: 'retry.cost' | 'retry.max';
  readonly label: string;
  readonly error: string | undefined;
}

function Units({ form, name, label, error }: UnitsProps): ReactNode {
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <NumberInput
          label={label}
          w={132}
          min={0}
          error={error}
          value={field.value === undefined || Number.isNaN(field.value) ? '' : field.value}
          onChange={(typed) => field.onChange(typed === '' ? Number.NaN : Number(typed))}
          onBlur={field.onBlur}
        />
      )}
    />
  );
}
