import type { ReactNode } from 'react';
import { Button, Chip, Group, Input, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { Controller, type UseFormReturn } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { useNow } from '../../../components/use-now';
import { formatInstant, OPERATOR_ZONE } from '../../../format/time';
import { endOf, ENDINGS, type Ending, type EntryValues } from './entry-values';
import { LIST_EFFECTS, type Listed, type NewEntry } from './listed';
import classes from './lists.module.css';

export type EntryFormState = UseFormReturn<EntryValues, unknown, NewEntry>;

interface EntryFormProps {
  readonly form: EntryFormState;
  readonly lists: readonly Listed['list'][];
  readonly problem: unknown;
  readonly onReview: (entry: NewEntry) => void;
  readonly onCancel: () => void;
}

const LIST_WORDS = { penalty: 'Penalise', deny: 'Deny', allow: 'Allow' } as const;
const SCOPES = [
  { value: 'ip', label: 'Address or range' },
  { value: 'user', label: 'User' },
  { value: 'key', label: 'Key' },
  { value: 'tenant', label: 'Whole tenant' },
];
const ID_FIELDS = {
  ip: ['Address or range', 'IPv4 or IPv6; a single IPv6 address stands for its /64', '192.0.2.0/24'],
  user: ['User', 'As the service names it', ''],
  key: ['Key id', 'From the tenant’s page or the API', ''],
} as const;
const ENDING_WORDS: Readonly<Record<Ending, string>> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', at: 'At…', never: 'No end' };

/** First step: who, how long and why. */
export function EntryForm({ form, lists, problem, onReview, onCancel }: EntryFormProps): ReactNode {
  const { errors } = form.formState;
  const [list, scope] = form.watch(['list', 'scope']);
  const id = scope === 'tenant' ? undefined : ID_FIELDS[scope];
  return (
    <form className={classes.form} noValidate onSubmit={form.handleSubmit(onReview)}>
      {problem ? <ProblemNotice error={problem} /> : null}
      {lists.length > 1 ? (
        <Picker form={form} name="list" label="What" data={lists.map((each) => ({ value: each, label: LIST_WORDS[each] }))} />
      ) : null}
      <p className={classes.hint}>{LIST_EFFECTS[list]}</p>
      <Picker form={form} name="scope" label="Who" data={SCOPES} />
      <div className={classes.line}>
        {id ? <TextInput label={id[0]} description={id[1]} placeholder={id[2]} required className={classes.grow} error={errors.id?.message} {...form.register('id')} /> : null}
        <TextInput
          label="Tenant"
          description={scope === 'tenant' ? 'All its callers' : 'Leave it empty for callers of any tenant'}
          required={scope === 'tenant'}
          className={classes.grow}
          error={errors.tenant?.message}
          {...form.register('tenant')}
        />
      </div>
      <EntryEnd form={form} endings={list === 'penalty' ? ENDINGS.filter((each) => each !== 'never') : ENDINGS} />
      <div className={classes.line}>
        <Textarea
          label="Reason"
          description="Kept in the audit log; the next colleague reads it"
          required
          autosize
          minRows={2}
          className={classes.grow}
          error={errors.reason?.message}
          {...form.register('reason')}
        />
        <TextInput label="Ticket" description="May stay empty" placeholder="SUP-1234" error={errors.ticket?.message} {...form.register('ticket')} />
      </div>
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit">Review</Button>
      </div>
    </form>
  );
}

interface PickerProps {
  readonly form: EntryFormState;
  readonly name: 'list' | 'scope';
  readonly label: string;
  readonly data: readonly { readonly value: string; readonly label: string }[];
}

function Picker({ form, name, label, data }: PickerProps): ReactNode {
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <Input.Wrapper label={label} labelElement="div">
          <div>
            <SegmentedControl
              size="xs"
              mt={4}
              aria-label={label}
              data={[...data]}
              value={field.value}
              onChange={(value) => {
                field.onChange(value);
                // A penalty has no choice without an end.
                if (value === 'penalty' && form.getValues('ending') === 'never') form.setValue('ending', '24h');
              }}
            />
          </div>
        </Input.Wrapper>
      )}
    />
  );
}

function EntryEnd({ form, endings }: { readonly form: EntryFormState; readonly endings: readonly Ending[] }): ReactNode {
  const nowMs = useNow();
  const [ending, endsAt] = form.watch(['ending', 'endsAt']);
  const end = endOf({ ending, endsAt }, nowMs);
  const error = form.formState.errors.endsAt?.message;
  return (
    <div>
      <Controller
        control={form.control}
        name="ending"
        render={({ field }) => (
          <Input.Wrapper label="Ends" labelElement="div" error={ending === 'at' ? undefined : error}>
            <Chip.Group value={field.value} onChange={field.onChange}>
              <Group gap={6} mt={4} role="radiogroup" aria-label="Ends">
                {endings.map((each) => (
                  <Chip key={each} value={each} size="xs" variant="outline">
                    {ENDING_WORDS[each]}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
        )}
      />
      {ending === 'at' ? <TextInput mt={8} type="datetime-local" label={`Ends at (${OPERATOR_ZONE})`} error={error} {...form.register('endsAt')} /> : null}
      <p className={classes.hint} style={{ marginTop: 6 }}>
        {end === undefined ? (ending === 'never' ? 'Stays until someone lifts it.' : 'Choose when it ends.') : `Ends by itself on every node at ${formatInstant(end, OPERATOR_ZONE)}.`}
      </p>
    </div>
  );
}
