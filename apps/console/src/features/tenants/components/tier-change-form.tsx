import type { ReactNode } from 'react';
import { Button, Input, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import type { Tenant } from '@quotaplane/contracts';
import { useQuery } from '@tanstack/react-query';
import { Controller, type UseFormReturn } from 'react-hook-form';
import layout from '../../../components/layout.module.css';
import { ProblemNotice } from '../../../components/notices';
import { tierListQuery } from '../../tiers/api/tier.queries';
import { moveOf, TIER_WHENS, USAGE_WORDS, type TierChangeValues, type TierPut } from './tier-change-values';
import { TierPreview } from './tier-preview';

interface TierChangeFormProps {
  readonly form: UseFormReturn<TierChangeValues, unknown, TierPut>;
  readonly tenant: Tenant;
  readonly problem: unknown;
  readonly onCancel: () => void;
  readonly onReview: (put: TierPut) => void;
}

const WHEN_WORDS = { now: 'Now', at: 'At…', 'period-end': 'At the period’s end' } as const;
const USAGES = [
  { value: 'carry', label: 'Carry on' },
  { value: 'prorate', label: 'Prorate' },
  { value: 'restart', label: 'Restart' },
];

/** Where to, when, and what becomes of the usage so far, with the figures around it. */
export function TierChangeForm({ form, tenant, problem, onCancel, onReview }: TierChangeFormProps): ReactNode {
  const tiers = useQuery(tierListQuery);
  const { errors } = form.formState;
  const values = form.watch();
  const move = moveOf(values, tenant);
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit(onReview)}>
      {problem ? <ProblemNotice error={problem} /> : null}
      <Controller
        control={form.control}
        name="tier"
        render={({ field }) => (
          <Select
            label="Tier"
            required
            allowDeselect={false}
            error={errors.tier?.message}
            data={tiers.data?.items.filter(({ archivedAt }) => archivedAt === null).map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
            value={field.value}
            onChange={(tier) => field.onChange(tier ?? '')}
          />
        )}
      />
      <Controller
        control={form.control}
        name="when"
        render={({ field }) => (
          <Input.Wrapper label="From" labelElement="div">
            <div>
              <SegmentedControl
                size="xs"
                aria-label="From"
                data={TIER_WHENS.map((value) => ({ value, label: WHEN_WORDS[value] }))}
                value={field.value}
                onChange={field.onChange}
              />
            </div>
          </Input.Wrapper>
        )}
      />
      {values.when === 'at' ? (
        <TextInput type="datetime-local" label={`From (${tenant.timezone})`} error={errors.at?.message} {...form.register('at')} />
      ) : errors.at ? (
        <Input.Error>{errors.at.message}</Input.Error>
      ) : null}
      <Controller
        control={form.control}
        name="usage"
        render={({ field }) => (
          <Input.Wrapper label="Usage so far" labelElement="div" description={USAGE_WORDS[field.value]}>
            <div>
              <SegmentedControl size="xs" mt={6} aria-label="Usage so far" data={USAGES} value={field.value} onChange={field.onChange} />
            </div>
          </Input.Wrapper>
        )}
      />
      {move === undefined ? null : <TierPreview tenant={tenant} move={move} />}
      <Textarea label="Reason" description="Kept in the audit log" required autosize minRows={2} error={errors.reason?.message} {...form.register('reason')} />
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
