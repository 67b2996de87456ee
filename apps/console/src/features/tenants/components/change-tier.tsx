import { useState, type ReactNode } from 'react';
import type { Tenant } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { call } from '../../../api/client';
import { Time } from '../../../components/figures';
import { FormModal, type FormExit } from '../../../components/form-modal';
import { Facts } from '../../../components/page';
import { Review } from '../../../components/review';
import { auditKeys } from '../../audit/api/audit.queries';
import { announceChange } from '../../rollout/components/announce-change';
import { usageKeys } from '../../usage/api/usage.queries';
import { tenantKeys } from '../api/tenant.queries';
import { TierChangeForm } from './tier-change-form';
import { tierChangeResolver, USAGE_WORDS, type TierChangeValues, type TierPut } from './tier-change-values';
import { TierPreview } from './tier-preview';

interface ChangeTierProps {
  readonly tenant: Tenant;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Moves a tenant to another tier: a form with what it does to the quotas, then one review. */
export function ChangeTier({ tenant, isOpen, onClose }: ChangeTierProps): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title={`Change the tier of ${tenant.slug}`} size={680}>
      {(exit) => <Steps tenant={tenant} exit={exit} />}
    </FormModal>
  );
}

function Steps({ tenant, exit }: { readonly tenant: Tenant; readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<TierChangeValues, unknown, TierPut>({
    resolver: tierChangeResolver(tenant),
    defaultValues: { tier: tenant.tier, when: 'now', at: '', usage: 'carry', reason: '' },
  });
  const [reviewed, setReviewed] = useState<TierPut>();
  const put = useMutation({
    mutationFn: (body: TierPut) => call('tenantTierPut', { params: { slug: tenant.slug }, body, ifVersion: tenant.version }),
    onSuccess: (changed) => {
      for (const queryKey of [tenantKeys.all, usageKeys.all, auditKeys.all]) void queryClient.invalidateQueries({ queryKey });
      announceChange(`Tier of ${tenant.slug} changed`, changed.changeId);
      exit.settle();
      exit.leave();
    },
    onError: (error) => {
      if (!(error instanceof ApiProblem) || error.errors.length === 0) return;
      setReviewed(undefined);
      for (const { pointer, detail } of error.errors) {
        form.setError(pointer === '/effectiveAt' ? 'at' : pointer === '/reason' ? 'reason' : 'tier', { type: 'server', message: detail });
      }
    },
  });
  if (!reviewed) return <TierChangeForm form={form} tenant={tenant} problem={put.error} onCancel={exit.leave} onReview={setReviewed} />;
  const { reason, ...move } = reviewed;
  return (
    <Review
      title={`Review: ${tenant.slug} goes from ${tenant.tier} to ${move.tier}`}
      action="Change tier"
      isSaving={put.isPending}
      problem={put.error}
      onBack={() => setReviewed(undefined)}
      onApply={() => put.mutate(reviewed)}
    >
      <TierPreview tenant={tenant} move={move} />
      <Facts
        items={[
          ['From', <When key="from" at={move.effectiveAt} zone={tenant.timezone} />],
          ['Usage so far', USAGE_WORDS[move.usage]],
          ['Reason', reason],
        ]}
      />
    </Review>
  );
}

function When({ at, zone }: { readonly at: TierPut['effectiveAt']; readonly zone: string }): ReactNode {
  return at === 'now' ? 'now' : at === 'period-end' ? 'the period’s end' : <Time at={at} zone={zone} />;
}
