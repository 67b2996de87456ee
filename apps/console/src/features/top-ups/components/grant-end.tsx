import type { ReactNode } from 'react';
import { Chip, Group, Input, TextInput } from '@mantine/core';
import type { TenantPolicy } from '@quotaplane/contracts';
import { Controller } from 'react-hook-form';
import { formatInstant, formatUtc } from '../../../format/time';
import type { GrantFormState } from './grant-form';
import { GRANT_ENDINGS, grantEndOf, type GrantEnding } from './grant-values';
import classes from './top-ups.module.css';

const ENDING_WORDS: Readonly<Record<GrantEnding, string>> = { period: 'End of period', at: 'At…', spent: 'When it is spent' };

/** When what is left of it lapses: with the period, unless someone chooses otherwise. */
export function GrantEnd({ form, policy }: { readonly form: GrantFormState; readonly policy: TenantPolicy }): ReactNode {
  const [ending, endsAt] = form.watch(['ending', 'endsAt']);
  const end = grantEndOf({ ending, endsAt }, policy);
  const error = form.formState.errors.endsAt?.message;
  return (
    <div className={classes.end}>
      <Controller
        control={form.control}
        name="ending"
        render={({ field }) => (
          <Input.Wrapper label="Ends" labelElement="div" error={ending === 'at' ? undefined : error}>
            <Chip.Group value={field.value} onChange={(value) => field.onChange(value)}>
              <Group gap={6} mt={4} role="radiogroup" aria-label="Ends">
                {GRANT_ENDINGS.map((each) => (
                  <Chip key={each} value={each} size="xs" variant="outline">
                    {ENDING_WORDS[each]}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
        )}
      />
      {ending === 'at' ? <TextInput type="datetime-local" label={`Ends at (${policy.timezone})`} error={error} {...form.register('endsAt')} /> : null}
      <p className={classes.hint}>
        {ending === 'spent'
          ? 'What is left goes on into later periods until it is spent.'
          : end === undefined
            ? 'Choose when it ends.'
            : `What is left lapses at ${formatInstant(end, policy.timezone)} (${formatUtc(end)}).`}
      </p>
    </div>
  );
}
