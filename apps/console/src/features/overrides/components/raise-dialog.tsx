import { useRef, useState, type ReactNode } from 'react';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { OverrideCreate, TenantPolicy } from '@quotaplane/contracts';
import { useForm } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { randomKey } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { FormModal, type FormExit } from '../../../components/form-modal';
import { Loaded } from '../../../components/loaded';
import { tenantPolicyQuery } from '../../tenants/api/tenant.queries';
import { useCreateOverride } from '../api/override.queries';
import { RaiseForm } from './raise-form';
import { RaiseReview } from './raise-review';
import { RaiseSaved } from './raise-saved';
import { initialValues, proposalsOf, raiseResolver } from './raise-values';

interface RaiseDialogProps {
  /** Tenant whose limits are to be raised; undefined keeps the dialog shut. */
  readonly tenant: string | undefined;
  readonly onClose: () => void;
}

/** Raise a limit: form, one review, receipts. */
export function RaiseDialog({ tenant, onClose }: RaiseDialogProps): ReactNode {
  const isNarrow = useMediaQuery('(max-width: 720px)') ?? false;
  return (
    <FormModal isOpen={tenant !== undefined} onClose={onClose} title={`Raise a limit of ${tenant ?? ''}`} size={820} isFullScreen={isNarrow}>
      {(exit) => (tenant === undefined ? null : <WithPolicy key={tenant} tenant={tenant} exit={exit} />)}
    </FormModal>
  );
}

function WithPolicy({ tenant, exit }: { readonly tenant: string; readonly exit: FormExit }): ReactNode {
  // Asked once: numbers that change under the operator's hands would make the review lie.
  const policy = useQuery({ ...tenantPolicyQuery(tenant), refetchInterval: false, refetchOnWindowFocus: false, staleTime: 0 });
  const frozen = useRef<TenantPolicy>(undefined);
  if (policy.isFetchedAfterMount) frozen.current ??= policy.data;
  return (
    <Loaded query={{ ...policy, data: frozen.current }} heightPx={300}>
      {(read) => <Steps tenant={tenant} policy={read} exit={exit} />}
    </Loaded>
  );
}

interface StepsProps {
  readonly tenant: string;
  readonly policy: TenantPolicy;
  readonly exit: FormExit;
}

function Steps({ tenant, policy, exit }: StepsProps): ReactNode {
  const form = useForm({ resolver: raiseResolver(tenant, policy), defaultValues: initialValues(policy) });
  const [reviewed, setReviewed] = useState<{ override: OverrideCreate; idempotencyKey: string }>();
  const create = useCreateOverride();
  if (create.data) return <RaiseSaved override={create.data} zone={policy.timezone} onClose={exit.leave} />;
  if (!reviewed) {
    return (
      <RaiseForm
        form={form}
        policy={policy}
        problem={create.error}
        onCancel={exit.leave}
        onReview={(override) => setReviewed({ override, idempotencyKey: randomKey() })}
      />
    );
  }
  const back = (): void => setReviewed(undefined);
  return (
    <RaiseReview
      override={reviewed.override}
      proposals={proposalsOf(form.getValues(), policy)}
      policy={policy}
      isSaving={create.isPending}
      problem={create.error}
      onBack={back}
      onApply={() =>
        create.mutate(
          { body: reviewed.override, idempotencyKey: reviewed.idempotencyKey },
          {
            onSuccess: exit.settle,
            onError: (error) => {
              // What the form shows is corrected there; anything else is tried again from the review under the same key.
              if (!(error instanceof ApiProblem) || error.errors.length === 0) return;
              back();
              showFieldErrors(error, form.setError, ['set', 'subject', 'reason', 'ticket', 'mode']);
            },
          },
        )
      }
    />
  );
}
