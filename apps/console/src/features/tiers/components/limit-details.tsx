import type { ReactNode } from 'react';
import { Checkbox, Chip, Group, Input, NativeSelect, TextInput } from '@mantine/core';
import { algorithm as algorithms, httpMethod } from '@quotaplane/contracts';
import { Controller } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { registerUnits, type DraftForm } from './draft-form';
import { ALGORITHM_WORDS } from './limit-words';
import classes from './tiers.module.css';

interface LimitPartProps {
  readonly form: DraftForm;
  readonly index: number;
}

const ALIGNMENTS = [
  { value: '', label: 'the wall clock' },
  { value: 'first-hit', label: 'the first call' },
];
const MODES = [
  { value: 'enforce', label: 'enforce' },
  { value: 'shadow', label: 'shadow: watch, never deny' },
];

/** What only some limits have: fields of their algorithm, whom they apply to, shadow and penalty. */
export function LimitDetails({ form, index }: LimitPartProps): ReactNode {
  const limit = form.watch(`limits.${index}`);
  const errors = form.formState.errors.limits?.[index];
  const kind = algorithms.safeParse(limit.algorithm);
  const label = (words: string): string => `Limit ${index + 1}: ${words}`;
  return (
    <div className={classes.details}>
      {kind.success ? <p className={classes.note}>{ALGORITHM_WORDS[kind.data]}</p> : null}
      <div className={classes.fields}>
        <NativeSelect label="Mode" aria-label={label('mode')} w={220} data={MODES} {...form.register(`limits.${index}.mode`)} />
        {limit.algorithm === 'fixed-window' ? (
          <NativeSelect label="Windows begin at" aria-label={label('alignment')} w={160} data={ALIGNMENTS} {...form.register(`limits.${index}.alignment`)} />
        ) : null}
        {limit.algorithm === 'leaky-bucket' ? (
          <>
            <TextInput
              label="May wait, units"
              aria-label={label('may wait, units')}
              placeholder="limit − 1"
              w={140}
              error={errors?.maxQueue?.message}
              {...registerUnits(form, `limits.${index}.maxQueue`)}
            />
            <TextInput
              label="Longest wait"
              aria-label={label('longest wait')}
              placeholder="the window"
              w={140}
              error={errors?.maxWait?.message}
              {...form.register(`limits.${index}.maxWait`)}
            />
          </>
        ) : null}
        <Controller
          control={form.control}
          name={`limits.${index}.methods`}
          render={({ field }) => (
            <Input.Wrapper label="Methods" labelElement="div" error={errors?.methods?.message}>
              <Chip.Group multiple value={field.value} onChange={field.onChange}>
                <Group gap={4} mt={4} role="group" aria-label={label('methods, none means all')}>
                  {httpMethod.options.map((method) => (
                    <Chip key={method} value={method} size="xs" variant="outline">
                      {method}
                    </Chip>
                  ))}
                </Group>
              </Chip.Group>
            </Input.Wrapper>
          )}
        />
        <Checkbox label="Count each route apart" mb={4} {...form.register(`limits.${index}.perRoute`)} />
      </div>
      <PenaltyFields form={form} index={index} />
    </div>
  );
}

const PENALTY_FIELDS = [
  ['strikes', 'Denials', 'how many strikes'],
  ['within', 'Within', 'such as 1m'],
  ['ban', 'Ban for', 'the first time'],
  ['factor', 'Then times', '1 to 100'],
  ['maxBan', 'At most', 'however often'],
  ['forgive', 'Forgiven after', 'without a ban'],
] as const;

/** Bans for those who keep calling past the limit. A shadow limit has none, for it never denies. */
function PenaltyFields({ form, index }: LimitPartProps): ReactNode {
  const [hasPenalty, mode, scope] = form.watch([`limits.${index}.hasPenalty`, `limits.${index}.mode`, `limits.${index}.scope`]);
  const errors = form.formState.errors.limits?.[index]?.penalty;
  const cannot = mode === 'shadow' ? 'a shadow limit never denies' : scope === 'global' ? 'a global limit has nobody to ban' : undefined;
  return (
    <div className={layout.tight}>
      <Checkbox
        label="Penalise who keeps calling past it"
        description={cannot && !hasPenalty ? `Not here: ${cannot}` : 'Each further ban lasts longer, until a while has passed without one'}
        disabled={cannot !== undefined && !hasPenalty}
        error={errors?.message}
        {...form.register(`limits.${index}.hasPenalty`)}
      />
      {hasPenalty ? (
        <div className={classes.fields}>
          {PENALTY_FIELDS.map(([field, title, hint]) => (
            <TextInput
              key={field}
              label={title}
              aria-label={`Limit ${index + 1}: penalty, ${title.toLowerCase()}`}
              description={hint}
              w={124}
              error={errors?.[field]?.message}
              {...form.register(`limits.${index}.penalty.${field}`)}
            />
          ))}
        </div>
      ) : null}
    </div>
  );
}
