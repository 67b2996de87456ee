import type { ReactNode } from 'react';
import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core';
import { ALGORITHMS } from '@quotaplane/contracts';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useFieldArray } from 'react-hook-form';
import { classListQuery } from '../../classes/api/class.queries';
import { registerUnits, type DraftForm } from './draft-form';
import { EMPTY_LIMIT, isBucket } from './draft-values';
import classes from './tiers.module.css';

/** One row a limit; a burst only where the algorithm has one. */
export function LimitRows({ form }: { readonly form: DraftForm }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'limits' });
  const errors = form.formState.errors.limits;
  const limits = form.watch('limits');
  const { data: known } = useQuery(classListQuery);
  // A class that is gone stays in the list of the limit that names it: the form must not change it silently.
  const classOptions = (chosen: string) => [
    { value: '', label: 'all' },
    ...[...new Set([...(known?.items.map(({ slug }) => slug) ?? []), ...(chosen === '' ? [] : [chosen])])].map((slug) => ({ value: slug, label: slug })),
  ];
  return (
    <div>
      <h3 className={classes.legend}>Limits</h3>
      <p className={classes.note}>
        Windows are typed as 30s, 1m, 15m, 1h or 1d; a figure may be unlimited. A limit counts a tenant, user, key, ip, global, or subject:name.
      </p>
      <datalist id="draft-scopes">
        {['tenant', 'user', 'key', 'ip', 'global'].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <div className={classes.scroll}>
        <table className={classes.editor} aria-label="Limits of the draft">
          <thead>
            <tr>
              {['Name', 'Algorithm', 'Counts', 'Limit, units', 'Window', 'Burst, units', 'Class', ''].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {fields.map((field, index) => (
              <tr key={field.id}>
                <td>
                  <TextInput
                    aria-label={`Limit ${index + 1}: name`}
                    error={errors?.[index]?.name?.message}
                    {...form.register(`limits.${index}.name`)}
                  />
                </td>
                <td>
                  <NativeSelect
                    aria-label={`Limit ${index + 1}: algorithm`}
                    data={[...ALGORITHMS]}
                    {...form.register(`limits.${index}.algorithm`)}
                  />
                </td>
                <td>
                  <TextInput
                    aria-label={`Limit ${index + 1}: counts`}
                    list="draft-scopes"
                    error={errors?.[index]?.scope?.message}
                    {...form.register(`limits.${index}.scope`)}
                  />
                </td>
                <td>
                  <TextInput
                    aria-label={`Limit ${index + 1}: units`}
                    error={errors?.[index]?.limit?.message}
                    {...registerUnits(form, `limits.${index}.limit`)}
                  />
                </td>
                <td>
                  <TextInput
                    aria-label={`Limit ${index + 1}: window`}
                    placeholder="1m"
                    error={errors?.[index]?.window?.message}
                    {...form.register(`limits.${index}.window`)}
                  />
                </td>
                <td>
                  <TextInput
                    aria-label={`Limit ${index + 1}: burst`}
                    disabled={!isBucket(limits[index]?.algorithm ?? '')}
                    error={errors?.[index]?.burst?.message}
                    {...registerUnits(form, `limits.${index}.burst`)}
                  />
                </td>
                <td>
                  <NativeSelect
                    aria-label={`Limit ${index + 1}: endpoint class`}
                    data={classOptions(limits[index]?.endpointClass ?? '')}
                    error={errors?.[index]?.endpointClass?.message}
                    {...form.register(`limits.${index}.endpointClass`)}
                  />
                </td>
                <td style={{ minWidth: 34 }}>
                  <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove limit ${index + 1}`} onClick={() => remove(index)}>
                    <IconTrash size={16} />
                  </ActionIcon>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_LIMIT)}>
        Add a limit
      </Button>
    </div>
  );
}
