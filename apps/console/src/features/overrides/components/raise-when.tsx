import type { ReactNode } from 'react';
import { Chip, Group, Input, SegmentedControl, TextInput } from '@mantine/core';
import type { TenantPolicy } from '@quotaplane/contracts';
import { Controller, useWatch } from 'react-hook-form';
import { formatInstant, formatUtc } from '../../../format/time';
import { useNow } from '../../../components/use-now';
import type { RaiseForm } from './raise-numbers';
import { endOf, ENDINGS, type Ending } from './raise-values';
import classes from './raise.module.css';

const ENDING_WORDS: Record<Ending, string> = {
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
  period: 'End of period',
  at: 'At…',
  never: 'No end',
};

/** When it applies. It ends by itself unless someone chooses that it should not. */
export function RaiseWhen({ form, policy }: { readonly form: RaiseForm; readonly policy: TenantPolicy }): ReactNode {
  const nowMs = useNow();
  const [ending, endsAt, startsAt] = useWatch({ control: form.control, name: ['ending', 'endsAt', 'startsAt'] });
  const endAt = endOf({ ending, endsAt, startsAt }, policy, nowMs);
  const { errors } = form.formState;
  return (
    <div className={classes.when}>
      <Controller
        control={form.control}
        name="ending"
        render={({ field }) => (
          <Input.Wrapper label="Ends" labelElement="div" error={ending === 'at' ? undefined : errors.endsAt?.message}>
            <Chip.Group value={field.value} onChange={(value) => field.onChange(value)}>
              <Group gap={6} mt={4} role="radiogroup" aria-label="Ends">
                {ENDINGS.map((each) => (
                  <Chip key={each} value={each} size="xs" variant="outline">
                    {ENDING_WORDS[each]}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
        )}
      />
      {ending === 'at' ? (
        <TextInput type="datetime-local" label={`Ends at (${policy.timezone})`} error={errors.endsAt?.message} {...form.register('endsAt')} />
      ) : null}
      <p className={classes.hint} data-warn={ending === 'never' || undefined}>
        {endAt === undefined
          ? ending === 'never'
            ? 'Stays until someone reverts it.'
            : 'Choose when it ends.'
          : `Ends by itself on every node at ${formatInstant(endAt, policy.timezone)} (${formatUtc(endAt)}).`}
      </p>
      <TextInput
        type="datetime-local"
        label={`Starts (${policy.timezone})`}
        description="Leave it empty to start now"
        error={errors.startsAt?.message}
        {...form.register('startsAt')}
      />
    </div>
  );
}

const MODES = [
  { value: 'at-least', label: 'At least' },
  { value: 'exactly', label: 'Exactly' },
];

export function RaiseMode({ form }: { readonly form: RaiseForm }): ReactNode {
  return (
    <Controller
      control={form.control}
      name="mode"
      render={({ field }) => (
        <Input.Wrapper
          label="Mode"
          labelElement="div"
          description={
            field.value === 'at-least'
              ? 'The larger of tier and override: a later upgrade is never undone.'
              : 'This very value, also when the tier gives more.'
          }
        >
          <SegmentedControl size="xs" mt={6} aria-label="Mode" data={MODES} value={field.value} onChange={field.onChange} />
        </Input.Wrapper>
      )}
    />
  );
}
