import type { ReactNode } from 'react';
import { Button, Select, SegmentedControl, Input, Textarea } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { tenantTierPut, type Tenant } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { FormModal, type FormExit } from '../../../components/form-modal';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { auditKeys } from '../../audit/api/audit.queries';
import { announceChange } from '../../rollout/components/announce-change';
import { tierListQuery } from '../../tiers/api/tier.queries';
import { tenantKeys } from '../api/tenant.queries';

interface ChangeTierProps {
  readonly tenant: Tenant;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function ChangeTier({ tenant, isOpen, onClose }: ChangeTierProps): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title={`Change the tier of ${tenant.slug}`}>
      {(exit) => <TierForm tenant={tenant} exit={exit} />}
    </FormModal>
  );
}

type TierPut = z.output<typeof tenantTierPut>;

const WHEN = [
  { value: 'now', label: 'Now' },
  { value: 'period-end', label: 'At the period’s end' },
];
const USAGE = [
  { value: 'carry', label: 'Carry on' },
  { value: 'prorate', label: 'Prorate' },
  { value: 'restart', label: 'Restart' },
];
const USAGE_WORDS = {
  carry: 'What was used in this period counts against the new allowance.',
  prorate: 'The allowance is split by time between both tiers.',
  restart: 'The count of this period starts again at 0.',
} as const;

function TierForm({ tenant, exit }: { readonly tenant: Tenant; readonly exit: FormExit }): ReactNode {
  const queryClient = useQueryClient();
  const tiers = useQuery(tierListQuery);
  const form = useForm<z.input<typeof tenantTierPut>, unknown, TierPut>({
    resolver: zodResolver(tenantTierPut),
    defaultValues: { tier: tenant.tier, effectiveAt: 'now', usage: 'carry', reason: '' },
  });
  const put = useMutation({
    mutationFn: (body: TierPut) => call('tenantTierPut', { params: { slug: tenant.slug }, body, ifVersion: tenant.version }),
    onSuccess: (changed) => {
      void queryClient.invalidateQueries({ queryKey: tenantKeys.all });
      void queryClient.invalidateQueries({ queryKey: auditKeys.all });
      announceChange(`Tier of ${tenant.slug} changed`, changed.changeId);
      exit.settle();
      exit.leave();
    },
    onError: (error) => showFieldErrors(error, form.setError, ['tier', 'effectiveAt', 'usage', 'reason']),
  });
  const { errors } = form.formState;
  const usage = form.watch('usage') ?? 'carry';
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => put.mutate(values))}>
      {put.error ? <ProblemNotice error={put.error} /> : null}
      <Controller
        control={form.control}
        name="tier"
        render={({ field }) => (
          <Select
            label="Tier"
            required
            allowDeselect={false}
            error={errors.tier?.message}
            data={tiers.data?.items.filter((tier) => tier.archivedAt === null).map((tier) => ({ value: tier.slug, label: tier.name })) ?? []}
            value={field.value}
            onChange={(tier) => field.onChange(tier ?? '')}
          />
        )}
      />
      <Controller
        control={form.control}
        name="effectiveAt"
        render={({ field }) => (
          <Input.Wrapper label="From" labelElement="div" error={errors.effectiveAt?.message}>
            <div>
              <SegmentedControl size="xs" aria-label="From" data={WHEN} value={field.value ?? 'now'} onChange={field.onChange} />
            </div>
          </Input.Wrapper>
        )}
      />
      <Controller
        control={form.control}
        name="usage"
        render={({ field }) => (
          <Input.Wrapper label="Usage so far" labelElement="div" description={USAGE_WORDS[usage]}>
            <div>
              <SegmentedControl size="xs" mt={6} aria-label="Usage so far" data={USAGE} value={usage} onChange={field.onChange} />
            </div>
          </Input.Wrapper>
        )}
      />
      <Textarea
        label="Reason"
        required
        autosize
        minRows={2}
        error={errors.reason ? 'Say why, in 3 to 500 characters' : undefined}
        {...form.register('reason')}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={exit.leave}>
          Cancel
        </Button>
        <Button type="submit" loading={put.isPending}>
          Change tier
        </Button>
      </div>
    </form>
  );
}
