import { useState, type ReactNode } from 'react';
import { ActionIcon, NativeSelect, TextInput } from '@mantine/core';
import { ALGORITHMS } from '@quotaplane/contracts';
import { IconAdjustmentsHorizontal, IconTrash } from '@tabler/icons-react';
import { Badge } from '../../../components/badge';
import { registerUnits, type DraftForm } from './draft-form';
import { LimitDetails } from './limit-details';
import { isBucket, type LimitDraft } from './limit-values';
import { ShadowBadge } from './shadow-badge';
import classes from './tiers.module.css';

interface LimitRowProps {
  readonly form: DraftForm;
  readonly index: number;
  /** Slugs of the endpoint classes there are. */
  readonly known: readonly string[];
  readonly onRemove: () => void;
}

/** Fields of {@link LimitDetails}, which opens by itself where one of them is wrong. */
const HIDDEN_FIELDS = ['maxQueue', 'maxWait', 'methods', 'penalty', 'alignment', 'mode'] as const;

export function LimitRow({ form, index, known, onRemove }: LimitRowProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const limit = form.watch(`limits.${index}`);
  const errors = form.formState.errors.limits?.[index];
  const isShown = isOpen || HIDDEN_FIELDS.some((field) => errors?.[field] !== undefined);
  const tags = tagsOf(limit);
  // A class that is gone stays in the list of the limit that names it: the form must not change it silently.
  const classNames = [...new Set([...known, ...(limit.endpointClass === '' ? [] : [limit.endpointClass])])];
  return (
    <tbody>
      <tr>
        <td data-label="Name">
          <TextInput aria-label={`Limit ${index + 1}: name`} error={errors?.name?.message} {...form.register(`limits.${index}.name`)} />
        </td>
        <td data-label="Algorithm">
          <NativeSelect aria-label={`Limit ${index + 1}: algorithm`} data={[...ALGORITHMS]} {...form.register(`limits.${index}.algorithm`)} />
        </td>
        <td data-label="Counts">
          <TextInput
            aria-label={`Limit ${index + 1}: counts`}
            list="draft-scopes"
            error={errors?.scope?.message}
            {...form.register(`limits.${index}.scope`)}
          />
        </td>
        <td data-label="Limit, units">
          <TextInput aria-label={`Limit ${index + 1}: units`} error={errors?.limit?.message} {...registerUnits(form, `limits.${index}.limit`)} />
        </td>
        <td data-label="Window">
          <TextInput
            aria-label={`Limit ${index + 1}: window`}
            placeholder="1m"
            error={errors?.window?.message}
            {...form.register(`limits.${index}.window`)}
          />
        </td>
        <td data-label="Burst, units">
          <TextInput
            aria-label={`Limit ${index + 1}: burst`}
            disabled={!isBucket(limit.algorithm)}
            error={errors?.burst?.message}
            {...registerUnits(form, `limits.${index}.burst`)}
          />
        </td>
        <td data-label="Class">
          <NativeSelect
            aria-label={`Limit ${index + 1}: endpoint class`}
            data={[{ value: '', label: 'all' }, ...classNames.map((slug) => ({ value: slug, label: slug }))]}
            error={errors?.endpointClass?.message}
            {...form.register(`limits.${index}.endpointClass`)}
          />
        </td>
        <td className={classes.rowActions}>
          <ActionIcon
            variant={isShown ? 'light' : 'subtle'}
            color={isShown ? undefined : 'gray'}
            size="lg"
            aria-label={`More of limit ${index + 1}`}
            aria-expanded={isShown}
            onClick={() => setOpen(!isShown)}
          >
            <IconAdjustmentsHorizontal size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove limit ${index + 1}`} onClick={onRemove}>
            <IconTrash size={16} />
          </ActionIcon>
        </td>
      </tr>
      {isShown || tags.length > 0 || limit.mode === 'shadow' ? (
        <tr>
          <td colSpan={8} className={classes.more}>
            {isShown ? (
              <LimitDetails form={form} index={index} />
            ) : (
              <span className={classes.tags}>
                {limit.mode === 'shadow' ? <ShadowBadge /> : null}
                {tags.map((tag) => (
                  <Badge key={tag}>{tag}</Badge>
                ))}
              </span>
            )}
          </td>
        </tr>
      ) : null}
    </tbody>
  );
}

/** What of a typed limit its row does not show, as short as it gets. */
function tagsOf(limit: LimitDraft): string[] {
  const isQueue = limit.algorithm === 'leaky-bucket';
  return [
    ...(limit.methods.length === 0 ? [] : [limit.methods.join(', ')]),
    ...(limit.perRoute ? ['each route apart'] : []),
    ...(limit.algorithm === 'fixed-window' && limit.alignment === 'first-hit' ? ['window from the first call'] : []),
    ...(isQueue && limit.maxQueue !== '' ? [`${limit.maxQueue} may wait`] : []),
    ...(isQueue && limit.maxWait !== '' ? [`up to ${limit.maxWait}`] : []),
    ...(limit.hasPenalty ? [`penalty after ${limit.penalty.strikes} denials in ${limit.penalty.within}`] : []),
  ];
}
