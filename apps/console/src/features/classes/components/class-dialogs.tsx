import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { endpointClassCreate, type EndpointClass } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { DiffTable } from '../../../components/diff-table';
import { FormModal, type FormExit } from '../../../components/form-modal';
import layout from '../../../components/layout.module.css';
import { Notice, ProblemNotice } from '../../../components/notices';
import { diffJson } from '../../../format/json-diff';
import { announceChange } from '../../rollout/components/announce-change';
import { classKeys } from '../api/class.queries';
import { ClassForm, type ClassInput, type ClassOutput } from './class-form';

const FIELDS = ['slug', 'cost', 'meter', 'failMode', 'refundOn', 'retry', 'description'] as const;
const EMPTY: ClassInput = { slug: '', cost: 1, meter: 'requests', failMode: 'local', refundOn: [], retry: null, description: '' };

export function CreateClass({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title="New endpoint class">
      {(exit) => <CreateForm exit={exit} />}
    </FormModal>
  );
}

function CreateForm({ exit }: { readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<ClassInput, unknown, ClassOutput>({ resolver: zodResolver(endpointClassCreate), defaultValues: EMPTY });
  const create = useMutation({
    mutationFn: (body: ClassOutput) => call('classesCreate', { body }),
    onSuccess: ({ slug, changeId }) => {
      void queryClient.invalidateQueries({ queryKey: classKeys.all });
      announceChange(`Class ${slug} created`, changeId);
      exit.settle();
      exit.leave();
    },
    onError: (error) => showFieldErrors(error, form.setError, FIELDS),
  });
  return (
    <ClassForm
      form={form}
      isSlugFixed={false}
      action="Create class"
      isSaving={create.isPending}
      problem={create.error}
      onSubmit={(values) => create.mutate(values)}
      onCancel={exit.leave}
    />
  );
}

export function EditClass({ edited, onClose }: { readonly edited: EndpointClass | undefined; readonly onClose: () => void }): ReactNode {
  return (
    <FormModal isOpen={edited !== undefined} onClose={onClose} title={`Change the class ${edited?.slug ?? ''}`}>
      {(exit) => (edited ? <EditForm key={edited.slug} edited={edited} exit={exit} /> : null)}
    </FormModal>
  );
}

/** Form, then one review: a class is what everyone is charged by. */
function EditForm({ edited, exit }: { readonly edited: EndpointClass; readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const { slug, version } = edited;
  const before = shownOf(edited);
  const form = useForm<ClassInput, unknown, ClassOutput>({ resolver: zodResolver(endpointClassCreate), defaultValues: { slug, ...before } });
  const [reviewed, setReviewed] = useState<ClassOutput>();
  const patch = useMutation({
    mutationFn: (values: ClassOutput) => call('classesPatch', { params: { slug }, body: shownOf(values), ifVersion: version }),
    onSuccess: ({ changeId }) => {
      void queryClient.invalidateQueries({ queryKey: classKeys.all });
      announceChange(`Class ${slug} changed`, changeId);
      exit.settle();
      exit.leave();
    },
    onError: (error) => {
      if (showFieldErrors(error, form.setError, FIELDS)) setReviewed(undefined);
    },
  });
  if (reviewed === undefined) {
    return (
      <ClassForm form={form} isSlugFixed action="Review" isSaving={false} problem={patch.error} onSubmit={setReviewed} onCancel={exit.leave} />
    );
  }
  const differences = diffJson(before, shownOf(reviewed));
  return (
    <div className={layout.tight}>
      <Notice tone="warn">Every service that declares {slug} follows, for all tenants, within a second.</Notice>
      <DiffTable label={`In force and proposed for ${slug}`} differences={differences} />
      {patch.error ? <ProblemNotice error={patch.error} /> : null}
      <div className={layout.row}>
        <Button variant="default" data-autofocus onClick={() => setReviewed(undefined)}>
          Back
        </Button>
        <span className={layout.spring} />
        <Button loading={patch.isPending} disabled={differences.length === 0} onClick={() => patch.mutate(reviewed)}>
          Change class
        </Button>
      </div>
    </div>
  );
}

/** The fields that the form shows. */
const shownOf = ({ cost, meter, failMode, refundOn, retry, description }: EndpointClass | ClassOutput) => ({
  cost,
  meter,
  failMode,
  refundOn,
  retry,
  description,
});
