import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useFieldArray } from 'react-hook-form';
import type { DraftForm } from './draft-form';
import { QuotaRow } from './quota-row';
import { EMPTY_QUOTA } from './quota-values';
import classes from './tiers.module.css';

/** One row a meter; the slower lane only where the quota throttles. */
export function QuotaRows({ form }: { readonly form: DraftForm }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'quotas' });
  const hasLane = form.watch('quotas').some(({ overage }) => overage === 'throttle');
  return (
    <div>
      <h3 className={classes.legend}>Monthly quotas</h3>
      <div className={classes.scroll}>
        <table className={classes.editor} aria-label="Quotas of the draft">
          <thead hidden={fields.length === 0}>
            <tr>
              {['Meter', 'Allowance, units', 'Past it', ...(hasLane ? ['Then, units', 'Per'] : []), ''].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          {fields.map((field, index) => (
            <QuotaRow key={field.id} form={form} index={index} hasLane={hasLane} onRemove={() => remove(index)} />
          ))}
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_QUOTA)}>
        Add a quota
      </Button>
    </div>
  );
}
