import { useState, type ReactNode } from 'react';
import { ActionIcon, Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { ENFORCED_ALGORITHMS, overage, degradedSettlement, type TierContent } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useFieldArray, useForm, type UseFormReturn } from 'react-hook-form';
import { call } from '../../../api/client';
import { ApiProblem } from '../../../api/api-problem';
import { pointerToName } from '../../../api/form-problem';
import { DiffTable } from '../../../components/diff-table';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { diffJson, type Json } from '../../../format/json-diff';
import { tierKeys } from '../api/tier.queries';
import { draftFieldOf, draftResolver, EMPTY_LIMIT, EMPTY_QUOTA, isBucket, toDraftValues, type DraftValues } from './draft-values';
import classes from './tiers.module.css';

type Form = UseFormReturn<DraftValues, unknown, TierContent>;

interface DraftEditorProps {
  readonly tier: string;
  readonly draft: { readonly version: number; readonly content: TierContent };
  /** What is in force, to review against; undefined before the first publish. */
  readonly published: TierContent | undefined;
  readonly canEdit: boolean;
}

/** The editable version as a form; saved as a draft, which nobody is judged by until it is published. */
export function DraftEditor({ tier, draft, published, canEdit }: DraftEditorProps): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm({ resolver: draftResolver(draft.content), defaultValues: toDraftValues(draft.content) });
  const [reviewed, setReviewed] = useState<TierContent>();
  const save = useMutation({
    mutationFn: (content: TierContent) => call('tierDraftPut', { params: { slug: tier }, body: content, ifVersion: draft.version }),
    onSuccess: async () => {
      setReviewed(undefined);
      await queryClient.invalidateQueries({ queryKey: tierKeys.all });
    },
    onError: (error) => {
      setReviewed(undefined);
      if (!(error instanceof ApiProblem)) return;
      for (const { pointer, detail } of error.errors) form.setError(draftFieldOf(pointerToName(pointer).split('.')) as 'concurrency', { type: 'server', message: detail });
    },
  });
  return (
    <form className={layout.stack} noValidate onSubmit={form.handleSubmit(setReviewed)} aria-label="Draft">
      {save.error ? <ProblemNotice error={save.error} /> : null}
      <fieldset disabled={!canEdit} className={layout.stack} style={{ border: 0, padding: 0, margin: 0 }}>
        <LimitRows form={form} />
        <QuotaRows form={form} />
        <div className={layout.row}>
          <TextInput label="In flight at once" description="empty or unlimited: no cap" w={200} error={form.formState.errors.concurrency?.message} {...form.register('concurrency')} />
          <NativeSelect label="Units admitted while the store was away" description="how the ledger settles them" w={280} data={[...degradedSettlement.options]} {...form.register('degraded')} />
        </div>
      </fieldset>
      {canEdit ? <div className={layout.row}><span className={layout.spring} /><Button type="submit" variant="default">Review and save the draft</Button></div> : null}
      <Modal opened={reviewed !== undefined} onClose={() => setReviewed(undefined)} title={`Save the draft of ${tier}`} size="lg">
        <div className={layout.tight}>
          <p className={classes.meta}>Against what is in force. Saving changes nobody’s limits; publishing does.</p>
          <DiffTable label="In force and draft" differences={diffJson(asJson(published), asJson(reviewed))} />
          <div className={layout.row}><span className={layout.spring} /><Button variant="default" data-autofocus onClick={() => setReviewed(undefined)}>Back</Button><Button loading={save.isPending} onClick={() => reviewed && save.mutate(reviewed)}>Save draft</Button></div>
        </div>
      </Modal>
    </form>
  );
}

/** Contract values are JSON by construction; undefined members vanish on the way as they would on the wire. */
export function asJson(content: TierContent | undefined): Json | undefined {
  return content === undefined ? undefined : (JSON.parse(JSON.stringify(content)) as Json);
}

function LimitRows({ form }: { readonly form: Form }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'limits' });
  const errors = form.formState.errors.limits;
  const limits = form.watch('limits');
  return (
    <div>
      <h3 className={classes.legend}>Limits</h3>
      <div className={classes.scroll}>
        <table className={classes.editor} aria-label="Limits of the draft">
          <thead><tr>{['Name', 'Algorithm', 'Counts', 'Limit, units', 'Window', 'Burst, units', 'Class', ''].map((title) => <th key={title} scope="col">{title}</th>)}</tr></thead>
          <tbody>
            {fields.map((field, index) => (
              <tr key={field.id}>
                <td><TextInput aria-label={`Limit ${index + 1}: name`} error={errors?.[index]?.name?.message} {...form.register(`limits.${index}.name`)} /></td>
                <td><NativeSelect aria-label={`Limit ${index + 1}: algorithm`} data={[...ENFORCED_ALGORITHMS]} {...form.register(`limits.${index}.algorithm`)} /></td>
                <td><TextInput aria-label={`Limit ${index + 1}: counts`} error={errors?.[index]?.scope?.message} {...form.register(`limits.${index}.scope`)} /></td>
                <td><TextInput aria-label={`Limit ${index + 1}: units`} error={errors?.[index]?.limit?.message} {...form.register(`limits.${index}.limit`)} /></td>
                <td><TextInput aria-label={`Limit ${index + 1}: window`} error={errors?.[index]?.window?.message} {...form.register(`limits.${index}.window`)} /></td>
                <td><TextInput aria-label={`Limit ${index + 1}: burst`} disabled={!isBucket(limits[index]?.algorithm ?? '')} error={errors?.[index]?.burst?.message} {...form.register(`limits.${index}.burst`)} /></td>
                <td><TextInput aria-label={`Limit ${index + 1}: endpoint class`} placeholder="all" error={errors?.[index]?.endpointClass?.message} {...form.register(`limits.${index}.endpointClass`)} /></td>
                <td style={{ minWidth: 34 }}><ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove limit ${index + 1}`} onClick={() => remove(index)}><IconTrash size={16} /></ActionIcon></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_LIMIT)}>Add a limit</Button>
    </div>
  );
}

function QuotaRows({ form }: { readonly form: Form }): ReactNode {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'quotas' });
  const errors = form.formState.errors.quotas;
  const quotas = form.watch('quotas');
  return (
    <div>
      <h3 className={classes.legend}>Monthly quotas</h3>
      <div className={classes.scroll}>
        <table className={classes.editor} aria-label="Quotas of the draft">
          <thead><tr>{['Meter', 'Allowance, units', 'Past it', 'Then, units', 'Per', ''].map((title) => <th key={title} scope="col">{title}</th>)}</tr></thead>
          <tbody>
            {fields.map((field, index) => {
              const isThrottled = quotas[index]?.overage === 'throttle';
              return (
                <tr key={field.id}>
                  <td><TextInput aria-label={`Quota ${index + 1}: meter`} error={errors?.[index]?.meter?.message} {...form.register(`quotas.${index}.meter`)} /></td>
                  <td><TextInput aria-label={`Quota ${index + 1}: allowance`} error={errors?.[index]?.allowance?.message} {...form.register(`quotas.${index}.allowance`)} /></td>
                  <td><NativeSelect aria-label={`Quota ${index + 1}: past it`} data={[...overage.options]} {...form.register(`quotas.${index}.overage`)} /></td>
                  <td><TextInput aria-label={`Quota ${index + 1}: slower limit`} disabled={!isThrottled} error={errors?.[index]?.throttleLimit?.message} {...form.register(`quotas.${index}.throttleLimit`)} /></td>
                  <td><TextInput aria-label={`Quota ${index + 1}: slower window`} disabled={!isThrottled} error={errors?.[index]?.throttleWindow?.message} {...form.register(`quotas.${index}.throttleWindow`)} /></td>
                  <td style={{ minWidth: 34 }}><ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Remove quota ${index + 1}`} onClick={() => remove(index)}><IconTrash size={16} /></ActionIcon></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Button size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => append(EMPTY_QUOTA)}>Add a quota</Button>
    </div>
  );
}
