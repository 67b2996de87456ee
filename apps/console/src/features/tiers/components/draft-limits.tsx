import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useFieldArray } from 'react-hook-form';
import { classListQuery } from '../../classes/api/class.queries';
import type { DraftForm } from './draft-form';
import { LimitRow } from './limit-row';
import { EMPTY_LIMIT } from './limit-values';
import classes from './tiers.module.css';

/** One row a limit, with the rest of its fields behind a button. */
export function LimitRows({ form }: { readonly form: DraftForm }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'limits' });
  const { data: known } = useQuery(classListQuery);
  return (
    <div>
      <h3 className={classes.legend}>Limits</h3>
      <p className={classes.note}>
        Windows are typed as 30s, 1m, 15m, 1h or 1d; a figure may be unlimited. A limit counts a tenant, user, key, ip, global, or subject:name. Queues,
        methods, shadow and penalties are behind the sliders.
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
          {fields.map((field, index) => (
            <LimitRow key={field.id} form={form} index={index} known={known?.items.map(({ slug }) => slug) ?? []} onRemove={() => remove(index)} />
          ))}
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_LIMIT)}>
        Add a limit
      </Button>
    </div>
  );
}
