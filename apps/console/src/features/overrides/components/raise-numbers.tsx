import type { ReactNode } from 'react';
import { BUCKET_ALGORITHMS, type TenantPolicy } from '@quotaplane/contracts';
import { Controller, type FieldPath, type UseFormReturn } from 'react-hook-form';
import type { OverrideCreate } from '@quotaplane/contracts';
import { formatCount, formatRate } from '../../../format/number';
import { SourceBadge } from './source-badge';
import { ProposedInput } from './proposed-input';
import { offeredTo, type Proposed, type RaiseValues } from './raise-values';
import classes from './raise.module.css';

export type RaiseForm = UseFormReturn<RaiseValues, unknown, OverrideCreate>;

/** Current and proposed side by side, one row a number. */
export function RaiseNumbers({ form, policy }: { readonly form: RaiseForm; readonly policy: TenantPolicy }): ReactNode {
  const offered = offeredTo(policy, form.watch('subject.scope'));
  return (
    <table className={classes.numbers} aria-label="Current and proposed">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Current</th>
          <th scope="col">Proposed</th>
        </tr>
      </thead>
      <tbody>
        {offered.limits.flatMap((limit, index) => [
          <NumberRow
            key={limit.name}
            form={form}
            field={`set.limits.${limit.name}.limit`}
            title={limit.name}
            part="limit"
            isFirst={index === 0}
            current={limit.limit}
            shown={formatRate(limit.limit, limit.windowMs)}
            source={limit.sources.limit}
          />,
          BUCKET_ALGORITHMS.includes(limit.algorithm) ? (
            <NumberRow
              key={`${limit.name}-burst`}
              form={form}
              field={`set.limits.${limit.name}.burst`}
              title={limit.name}
              part="burst"
              current={limit.burst}
              shown={limit.burst === null ? 'unlimited' : `${formatCount(limit.burst)} at once`}
              source={limit.sources.burst}
            />
          ) : null,
        ])}
        {offered.quotas.map((quota) => (
          <NumberRow
            key={quota.meter}
            form={form}
            field={`set.quotas.${quota.meter}.allowance`}
            title={quota.meter}
            part="per month"
            current={quota.allowance}
            shown={quota.allowance === null ? 'unlimited' : `${formatCount(quota.allowance)} per month`}
            source={quota.sources.allowance}
          />
        ))}
        {offered.hasConcurrency ? (
          <NumberRow
            form={form}
            field="set.concurrency"
            title="in flight"
            part="at once"
            current={policy.concurrency.limit}
            shown={policy.concurrency.limit === null ? 'unlimited' : `${formatCount(policy.concurrency.limit)} at once`}
            source={policy.concurrency.source}
          />
        ) : null}
      </tbody>
    </table>
  );
}

interface NumberRowProps {
  readonly form: RaiseForm;
  readonly field: FieldPath<RaiseValues>;
  readonly title: string;
  readonly part: string;
  readonly current: number | null;
  readonly shown: string;
  readonly source: string;
  readonly isFirst?: boolean;
}

function NumberRow({ form, field, title, part, current, shown, source, isFirst = false }: NumberRowProps): ReactNode {
  return (
    <tr>
      <th scope="row">
        <span className={classes.what}>{title}</span> <span className={classes.part}>{part}</span>
      </th>
      <td>
        <span className={classes.current}>{shown}</span> <SourceBadge source={source} />
      </td>
      <td>
        <Controller
          control={form.control}
          name={field}
          render={({ field: { value, onChange }, fieldState: { error } }) => (
            <ProposedInput
              label={`${title} ${part}, proposed`}
              current={current}
              value={isProposed(value) ? value : Number.NaN}
              error={error?.message}
              onChange={onChange}
              isAutoFocused={isFirst}
            />
          )}
        />
      </td>
    </tr>
  );
}

const isProposed = (value: unknown): value is Proposed => value === null || typeof value === 'number';
