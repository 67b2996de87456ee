import { useRef, useState, type ReactNode } from 'react';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { IconGauge } from '@tabler/icons-react';
import type { TenantPolicy } from '@quotaplane/contracts';
import { useForm } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { randomKey } from '../../../api/client';
import { FormModal, type FormExit } from '../../../components/form-modal';
import { ButtonLink } from '../../../components/links';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { tenantPolicyQuery } from '../../tenants/api/tenant.queries';
import { useCreateTopUp, type NewTopUp } from '../api/top-up.queries';
import { GrantForm } from './grant-form';
import { GrantReview } from './grant-review';
import { GrantSaved } from './grant-saved';
import { emptyGrant, grantableMeters, grantFieldOf, grantResolver, type GrantValues } from './grant-values';

interface GrantDialogProps {
  /** Tenant that is to get more; undefined keeps the dialog shut. */
  readonly tenant: string | undefined;
  readonly onClose: () => void;
}

/** Grant more this month: form, one review, receipts. */
export function GrantDialog({ tenant, onClose }: GrantDialogProps): ReactNode {
  const isNarrow = useMediaQuery('(max-width: 720px)') ?? false;
  return (
    <FormModal isOpen={tenant !== undefined} onClose={onClose} title={`Grant more to ${tenant ?? ''}`} size={640} isFullScreen={isNarrow}>
      {(exit) => (tenant === undefined ? null : <WithPolicy key={tenant} tenant={tenant} exit={exit} />)}
    </FormModal>
  );
}

function WithPolicy({ tenant, exit }: { readonly tenant: string; readonly exit: FormExit }): ReactNode {
  // Asked once: a period that rolls under the operator's hands would move the end that the review shows.
  const policy = useQuery({ ...tenantPolicyQuery(tenant), refetchInterval: false, refetchOnWindowFocus: false, staleTime: 0 });
  const frozen = useRef<TenantPolicy>(undefined);
  if (policy.isFetchedAfterMount) frozen.current ??= policy.data;
  return (
    <Loaded query={{ ...policy, data: frozen.current }} heightPx={260}>
      {(read) =>
        grantableMeters(read).length === 0 ? (
          <Empty title="No allowance to add to" icon={<IconGauge size={30} stroke={1.4} aria-hidden />} next={<RaiseInstead tenant={tenant} />}>
            The tier {read.tier} gives this tenant no monthly quota, or an unlimited one. Its other limits are raised instead.
          </Empty>
        ) : (
          <Steps tenant={tenant} policy={read} exit={exit} />
        )
      }
    </Loaded>
  );
}

function RaiseInstead({ tenant }: { readonly tenant: string }): ReactNode {
  return (
    <ButtonLink to="." search={(before) => ({ ...before, grant: undefined, raise: tenant })} resetScroll={false} variant="default">
      Raise a limit
    </ButtonLink>
  );
}

interface StepsProps {
  readonly tenant: string;
  readonly policy: TenantPolicy;
  readonly exit: FormExit;
}

function Steps({ tenant, policy, exit }: StepsProps): ReactNode {
  const form = useForm<GrantValues, unknown, NewTopUp>({ resolver: grantResolver(policy), defaultValues: emptyGrant(policy) });
  const [reviewed, setReviewed] = useState<{ readonly body: NewTopUp; readonly idempotencyKey: string }>();
  const create = useCreateTopUp();
  if (create.data) return <GrantSaved topUp={create.data} zone={policy.timezone} onClose={exit.leave} />;
  if (!reviewed) {
    return (
      <GrantForm
        form={form}
        tenant={tenant}
        policy={policy}
        problem={create.error}
        onCancel={exit.leave}
        onReview={(body) => setReviewed({ body, idempotencyKey: randomKey() })}
      />
    );
  }
  const apply = (): void =>
    create.mutate(
      { tenant, ...reviewed },
      {
        onSuccess: exit.settle,
        onError: (error) => {
          // What the form shows is corrected there; anything else is tried again from the review under the same key.
          if (!(error instanceof ApiProblem) || error.errors.length === 0) return;
          setReviewed(undefined);
          for (const { pointer, detail } of error.errors) {
            form.setError(grantFieldOf(pointer.slice(1)) as keyof GrantValues, { type: 'server', message: detail });
          }
        },
      },
    );
  return (
    <GrantReview
      tenant={tenant}
      policy={policy}
      grant={reviewed.body}
      isSaving={create.isPending}
      problem={create.error}
      onBack={() => setReviewed(undefined)}
      onApply={apply}
    />
  );
}
