import type { ReactNode } from 'react';
import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core';
import { overage } from '@quotaplane/contracts';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useFieldArray } from 'react-hook-form';
import { registerUnits, type DraftForm } from './draft-form';
import { EMPTY_QUOTA } from './draft-values';
import classes from './tiers.module.css';

/** One row a meter; the slower lane only where the quota throttles. */
export function QuotaRows({ form }: { readonly form: DraftForm }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'quotas' });
  const errors = form.formState.errors.quotas;
  const quotas = form.watch('quotas');
  const hasLane = quotas.some(({ overage: past }) => past === 'throttle');
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
          <tbody>
            {fields.map((field, index) => {
              const isThrottled = quotas[index]?.overage === 'throttle';
              return (
                <tr key={field.id}>
                  <td data-label="Meter">
                    <TextInput
                      aria-label={`Quota ${index + 1}: meter`}
                      error={errors?.[index]?.meter?.message}
                      {...form.register(`quotas.${index}.meter`)}
                    />
                  </td>
                  <td data-label="Allowance, units">
                    <TextInput
                      aria-label={`Quota ${index + 1}: allowance`}
                      error={errors?.[index]?.allowance?.message}
                      {...registerUnits(form, `quotas.${index}.allowance`)}
                    />
                  </td>
                  <td data-label="Past it">
                    <NativeSelect
                      aria-label={`Quota ${index + 1}: past it`}
                      data={[...overage.options]}
                      {...form.register(`quotas.${index}.overage`)}
                    />
                  </td>
                  {isThrottled ? (
                    <>
                      <td data-label="Then, units">
                        <TextInput
                          aria-label={`Quota ${index + 1}: slower limit`}
                          error={errors?.[index]?.throttleLimit?.message}
                          {...registerUnits(form, `quotas.${index}.throttleLimit`)}
                        />
                      </td>
                      <td data-label="Per">
                        <TextInput
                          aria-label={`Quota ${index + 1}: slower window`}
                          placeholder="1m"
                          error={errors?.[index]?.throttleWindow?.message}
                          {...form.register(`quotas.${index}.throttleWindow`)}
                        />
                      </td>
                    </>
                  ) : hasLane ? (
                    <td colSpan={2} className={classes.none} />
                  ) : null}
                  <td className={classes.rowActions}>
                    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove quota ${index + 1}`} onClick={() => remove(index)}>
                      <IconTrash size={16} />
                    </ActionIcon>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_QUOTA)}>
        Add a quota
      </Button>
    </div>
  );
}
