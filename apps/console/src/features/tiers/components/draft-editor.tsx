import { useState, type ReactNode } from 'react';
import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { degradedSettlement, type TierContent } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { call } from '../../../api/client';
import { ApiProblem } from '../../../api/api-problem';
import { pointerToName } from '../../../api/form-problem';
import { DiffTable } from '../../../components/diff-table';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { diffJson, type Json } from '../../../format/json-diff';
import { tierKeys } from '../api/tier.queries';
import { registerUnits } from './draft-form';
import { LimitRows } from './draft-limits';
import { withNewCounters } from './new-counters';
import { QuotaRows } from './draft-quotas';
import { draftFieldOf, draftResolver, toDraftValues } from './draft-values';
import classes from './tiers.module.css';

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
      for (const { pointer, detail } of error.errors)
        form.setError(draftFieldOf(pointerToName(pointer).split('.')) as 'concurrency', { type: 'server', message: detail });
    },
  });
  return (
    <form className={layout.stack} noValidate onSubmit={form.handleSubmit(setReviewed)} aria-label="Draft">
      {save.error ? <ProblemNotice error={save.error} /> : null}
      <fieldset disabled={!canEdit} className={layout.stack} style={{ border: 0, padding: 0, margin: 0 }}>
        <LimitRows form={form} />
        <QuotaRows form={form} />
        <div className={layout.row}>
          <TextInput
            label="In flight at once"
            description="requests at once; empty: no cap"
            w={220}
            error={form.formState.errors.concurrency?.message}
            {...registerUnits(form, 'concurrency')}
          />
          <NativeSelect
            label="Units admitted while the store was away"
            description="how the ledger settles them"
            w={280}
            data={[...degradedSettlement.options]}
            {...form.register('degraded')}
          />
        </div>
      </fieldset>
      {canEdit ? (
        <div className={layout.row}>
          <span className={layout.spring} />
          <Button type="submit" variant="default">
            Review and save the draft
          </Button>
        </div>
      ) : null}
      <Modal opened={reviewed !== undefined} onClose={() => setReviewed(undefined)} title={`Save the draft of ${tier}`} size="lg">
        <div className={layout.tight}>
          <p className={classes.meta}>Against what is in force. Saving changes nobody’s limits; publishing does.</p>
          <DiffTable label="In force and draft" differences={withNewCounters(diffJson(asJson(published), asJson(reviewed)))} />
          <div className={layout.row}>
            <span className={layout.spring} />
            <Button variant="default" data-autofocus onClick={() => setReviewed(undefined)}>
              Back
            </Button>
            <Button loading={save.isPending} onClick={() => reviewed && save.mutate(reviewed)}>
              Save draft
            </Button>
          </div>
        </div>
      </Modal>
    </form>
  );
}

/** Contract values are JSON by construction; undefined members vanish on the way as they would on the wire. */
export function asJson(content: TierContent | undefined): Json | undefined {
  return content === undefined ? undefined : (JSON.parse(JSON.stringify(content)) as Json);
}
