import { useState, type ReactNode } from 'react';
import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { UsageItem } from '@quotaplane/contracts';
import { randomKey } from '../../../api/client';
import { Count } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Notice } from '../../../components/notices';
import { Review } from '../../../components/review';
import { formatDay, lastInstant } from '../../../format/time';
import { tenantUsageQuery } from '../../usage/api/usage.queries';
import { useClosePeriod } from '../api/statement.queries';
import classes from './statement.module.css';

export type EndedPeriod = Pick<UsageItem, 'tenant' | 'period'>;

interface ClosePeriodProps {
  /** What is to be closed; undefined keeps the dialog shut. */
  readonly ended: EndedPeriod | undefined;
  readonly onClose: () => void;
}

/** Closes an ended period now: one review of what goes on the statement for good. */
export function ClosePeriod({ ended, onClose }: ClosePeriodProps): ReactNode {
  return (
    <Modal opened={ended !== undefined} onClose={onClose} title={ended ? `Close a period of ${ended.tenant}` : ''} size="lg">
      {ended ? <CloseReview key={`${ended.tenant} ${ended.period.id}`} ended={ended} onClose={onClose} /> : null}
    </Modal>
  );
}

function CloseReview({ ended: { tenant, period }, onClose }: { readonly ended: EndedPeriod; readonly onClose: () => void }): ReactNode {
  const usage = useQuery(tenantUsageQuery(tenant, period.id.slice(0, 7)));
  const close = useClosePeriod();
  const navigate = useNavigate();
  const [idempotencyKey] = useState(randomKey);
  const apply = (): void =>
    close.mutate(
      { tenant, period: period.id, idempotencyKey },
      {
        onSuccess: ({ id }) => {
          onClose();
          void navigate({ to: '/statements/$id', params: { id } });
        },
      },
    );
  return (
    <Review
      title={`Review: ${tenant}, ${formatDay(period.start, period.timezone)} to ${formatDay(lastInstant(period.end), period.timezone)}`}
      action="Close the period"
      isDangerous
      isSaving={close.isPending}
      problem={close.error}
      onBack={onClose}
      onApply={apply}
    >
      <Notice tone="warn">
        A closed statement never changes. What is reported later becomes a numbered adjustment. Left alone, the period closes by itself once its time for late
        usage is over.
      </Notice>
      <Loaded query={usage} heightPx={80}>
        {({ items }) => <Meters items={items.filter((item) => item.period.id === period.id)} />}
      </Loaded>
    </Review>
  );
}

function Meters({ items }: { readonly items: readonly UsageItem[] }): ReactNode {
  return (
    <table className={classes.table} aria-label="What goes on the statement">
      <thead>
        <tr>
          <th scope="col">Meter</th>
          {['Used, units', 'Allowance', 'Billable'].map((title) => (
            <th key={title} scope="col" className={classes.numeric}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map(({ meter, used, allowance, billable }) => (
          <tr key={meter}>
            <th scope="row">{meter}</th>
            {[used, allowance, billable].map((units, index) => (
              <td key={index} className={classes.numeric}>
                <Count units={units} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
