import type { ReactNode } from 'react';
import type { TenantPolicy } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { Facts } from '../../../components/page';
import { Review } from '../../../components/review';
import { formatCount } from '../../../format/number';
import type { NewTopUp } from '../api/top-up.queries';
import { GrantEffect } from './grant-effect';

interface GrantReviewProps {
  readonly tenant: string;
  readonly policy: TenantPolicy;
  readonly grant: NewTopUp;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly onBack: () => void;
  readonly onApply: () => void;
}

/** Second step: what will be so, in full. */
export function GrantReview({ tenant, policy, grant, isSaving, problem, onBack, onApply }: GrantReviewProps): ReactNode {
  return (
    <Review
      title={`Review: ${tenant} will get ${formatCount(grant.units)} more units of ${grant.meter}`}
      action={`Grant to ${tenant}`}
      isSaving={isSaving}
      problem={problem}
      onBack={onBack}
      onApply={onApply}
    >
      <GrantEffect tenant={tenant} meter={grant.meter} units={grant.units} />
      <Facts
        items={[
          ['Starts', grant.from === undefined ? 'now' : <Time key="from" at={grant.from} zone={policy.timezone} />],
          ['Lapses', grant.expiresAt === undefined ? 'when it is spent' : <Time key="end" at={grant.expiresAt} zone={policy.timezone} />],
          ...(grant.priority === 100 ? [] : [['Priority', String(grant.priority)] as const]),
          ['Ticket', grant.ticket ?? 'none'],
          ['Reason', grant.reason],
        ]}
      />
    </Review>
  );
}
