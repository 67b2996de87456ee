import { useState, type ReactNode } from 'react';
import { useForm } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { randomKey } from '../../../api/client';
import { Time } from '../../../components/figures';
import { FormModal, type FormExit } from '../../../components/form-modal';
import { Notice } from '../../../components/notices';
import { Facts } from '../../../components/page';
import { Review } from '../../../components/review';
import { announceChange } from '../../rollout/components/announce-change';
import { useCreateEntry } from '../api/list.queries';
import { EntryForm } from './entry-form';
import { emptyEntry, entryResolver, type EntryValues } from './entry-values';
import { LIST_EFFECTS, listedWords, type Listed, type NewEntry } from './listed';

interface EntryDialogProps {
  /** What the form starts with; undefined keeps the dialog shut. */
  readonly start: Partial<EntryValues> | undefined;
  /** Lists that the operator may write to. */
  readonly lists: readonly Listed['list'][];
  readonly onClose: () => void;
}

/** Allow, deny or penalise: a form, then one review. */
export function EntryDialog({ start, lists, onClose }: EntryDialogProps): ReactNode {
  return (
    <FormModal isOpen={start !== undefined} onClose={onClose} title={start?.list === 'penalty' && lists.length === 1 ? 'Penalise a caller' : 'Allow, deny or penalise a caller'} size="lg">
      {(exit) => (start === undefined ? null : <Steps start={start} lists={lists} exit={exit} />)}
    </FormModal>
  );
}

interface StepsProps {
  readonly start: Partial<EntryValues>;
  readonly lists: readonly Listed['list'][];
  readonly exit: FormExit;
}

function Steps({ start, lists, exit }: StepsProps): ReactNode {
  const form = useForm<EntryValues, unknown, NewEntry>({ resolver: entryResolver, defaultValues: emptyEntry(start) });
  const [reviewed, setReviewed] = useState<{ readonly entry: NewEntry; readonly idempotencyKey: string }>();
  const create = useCreateEntry();
  const apply = (): void => {
    if (!reviewed) return;
    create.mutate(reviewed, {
      onSuccess: ({ changeId }) => {
        announceChange(`${VERBS[reviewed.entry.list]}: ${listedWords(reviewed.entry)}`, changeId);
        exit.settle();
        exit.leave();
      },
      onError: (error) => {
        if (!(error instanceof ApiProblem) || error.errors.length === 0) return;
        setReviewed(undefined);
        for (const { pointer, detail } of error.errors) form.setError(pointer === '/tenant' ? 'tenant' : pointer === '/until' ? 'endsAt' : 'id', { type: 'server', message: detail });
      },
    });
  };
  if (!reviewed) {
    return (
      <EntryForm form={form} lists={lists} problem={create.error} onCancel={exit.leave} onReview={(entry) => setReviewed({ entry, idempotencyKey: randomKey() })} />
    );
  }
  return <EntryReview entry={reviewed.entry} isSaving={create.isPending} problem={create.error} onBack={() => setReviewed(undefined)} onApply={apply} />;
}

const VERBS = { penalty: 'Penalised', deny: 'Denied', allow: 'Allowed' } as const;
const ACTIONS = { penalty: 'Penalise', deny: 'Deny', allow: 'Allow' } as const;

interface ReviewProps {
  readonly entry: NewEntry;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly onBack: () => void;
  readonly onApply: () => void;
}

function EntryReview({ entry, isSaving, problem, onBack, onApply }: ReviewProps): ReactNode {
  return (
    <Review
      title={`Review: ${ACTIONS[entry.list].toLowerCase()} ${listedWords(entry)}`}
      action={`${ACTIONS[entry.list]} now`}
      isDangerous={entry.list !== 'allow'}
      isSaving={isSaving}
      problem={problem}
      onBack={onBack}
      onApply={onApply}
    >
      <Notice tone={entry.list === 'allow' ? 'calm' : 'warn'}>
        {entry.tenant === null ? 'Whichever tenant the caller belongs to. ' : ''}
        {LIST_EFFECTS[entry.list]}
      </Notice>
      <Facts
        items={[
          ['Starts', 'now'],
          ['Ends by itself', entry.until === undefined ? 'never, until lifted' : <Time key="until" at={entry.until} />],
          ['Ticket', entry.ticket ?? 'none'],
          ['Reason', entry.reason],
        ]}
      />
    </Review>
  );
}
