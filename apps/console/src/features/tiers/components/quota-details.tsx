import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { registerUnits, type DraftForm } from './draft-form';
import classes from './tiers.module.css';

/** What few quotas have: an end above the allowance, a carry-over, thresholds. */
export function QuotaDetails({ form, index }: { readonly form: DraftForm; readonly index: number }): ReactNode {
  const errors = form.formState.errors.quotas?.[index];
  const isRejecting = form.watch(`quotas.${index}.overage`) === 'reject';
  return (
    <div className={classes.details}>
      <div className={classes.quotaFields}>
        <TextInput
          label="Ceiling, units"
          aria-label={`Quota ${index + 1}: ceiling`}
          description={isRejecting ? 'reject ends at the allowance' : 'refused past it; empty: no end'}
          disabled={isRejecting}
          error={errors?.ceiling?.message}
          {...registerUnits(form, `quotas.${index}.ceiling`)}
        />
        <TextInput
          label="Carry over at most, units"
          aria-label={`Quota ${index + 1}: carry over at most`}
          description="unused, into the next period; empty: none"
          error={errors?.carry?.message}
          {...registerUnits(form, `quotas.${index}.carry`)}
        />
        <TextInput
          label="Alert at, %"
          aria-label={`Quota ${index + 1}: alert at`}
          description="of the allowance, such as 80, 100"
          error={errors?.alertAt?.message}
          {...form.register(`quotas.${index}.alertAt`)}
        />
      </div>
    </div>
  );
}
