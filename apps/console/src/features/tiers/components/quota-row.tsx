import { useState, type ReactNode } from 'react';
import { ActionIcon, NativeSelect, TextInput } from '@mantine/core';
import { overage } from '@quotaplane/contracts';
import { IconAdjustmentsHorizontal, IconTrash } from '@tabler/icons-react';
import { Badge } from '../../../components/badge';
import { registerUnits, type DraftForm } from './draft-form';
import { quotaTags } from './quota-values';
import { QuotaDetails } from './quota-details';
import classes from './tiers.module.css';

interface QuotaRowProps {
  readonly form: DraftForm;
  readonly index: number;
  /** Another quota of the tier throttles, so that the columns of the slower lane are there. */
  readonly hasLane: boolean;
  readonly onRemove: () => void;
}

/** Fields of {@link QuotaDetails}, which opens by itself where one of them is wrong. */
const HIDDEN_FIELDS = ['ceiling', 'carry', 'alertAt'] as const;

export function QuotaRow({ form, index, hasLane, onRemove }: QuotaRowProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const quota = form.watch(`quotas.${index}`);
  const errors = form.formState.errors.quotas?.[index];
  const isShown = isOpen || HIDDEN_FIELDS.some((field) => errors?.[field] !== undefined);
  const tags = quotaTags(quota);
  return (
    <tbody>
      <tr>
        <td data-label="Meter">
          <TextInput aria-label={`Quota ${index + 1}: meter`} error={errors?.meter?.message} {...form.register(`quotas.${index}.meter`)} />
        </td>
        <td data-label="Allowance, units">
          <TextInput
            aria-label={`Quota ${index + 1}: allowance`}
            error={errors?.allowance?.message}
            {...registerUnits(form, `quotas.${index}.allowance`)}
          />
        </td>
        <td data-label="Past it">
          <NativeSelect aria-label={`Quota ${index + 1}: past it`} data={[...overage.options]} {...form.register(`quotas.${index}.overage`)} />
        </td>
        {quota.overage === 'throttle' ? (
          <>
            <td data-label="Then, units">
              <TextInput
                aria-label={`Quota ${index + 1}: slower limit`}
                error={errors?.throttleLimit?.message}
                {...registerUnits(form, `quotas.${index}.throttleLimit`)}
              />
            </td>
            <td data-label="Per">
              <TextInput
                aria-label={`Quota ${index + 1}: slower window`}
                placeholder="1m"
                error={errors?.throttleWindow?.message}
                {...form.register(`quotas.${index}.throttleWindow`)}
              />
            </td>
          </>
        ) : hasLane ? (
          <td colSpan={2} className={classes.none} />
        ) : null}
        <td className={classes.rowActions}>
          <ActionIcon
            variant={isShown ? 'light' : 'subtle'}
            color={isShown ? undefined : 'gray'}
            size="lg"
            aria-label={`More of quota ${index + 1}`}
            aria-expanded={isShown}
            onClick={() => setOpen(!isShown)}
          >
            <IconAdjustmentsHorizontal size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove quota ${index + 1}`} onClick={onRemove}>
            <IconTrash size={16} />
          </ActionIcon>
        </td>
      </tr>
      {isShown || tags.length > 0 ? (
        <tr>
          <td colSpan={hasLane ? 6 : 4} className={classes.more}>
            {isShown ? (
              <QuotaDetails form={form} index={index} />
            ) : (
              <span className={classes.tags}>
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
