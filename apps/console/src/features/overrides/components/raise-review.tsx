import type { ReactNode } from 'react';
import { IconArrowRight } from '@tabler/icons-react';
import type { OverrideCreate, TenantPolicy } from '@quotaplane/contracts';
import { Facts } from '../../../components/page';
import { Time } from '../../../components/figures';
import { Review } from '../../../components/review';
import { formatCount, formatRate } from '../../../format/number';
import { isStaying, type Proposal } from './raise-values';
import { subjectWords } from './subject-label';
import classes from './raise.module.css';

interface RaiseReviewProps {
  readonly override: OverrideCreate;
  readonly proposals: readonly Proposal[];
  readonly policy: TenantPolicy;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly onBack: () => void;
  readonly onApply: () => void;
}

/** Second step: what will be so, in full. */
export function RaiseReview({ override, proposals, policy, isSaving, problem, onBack, onApply }: RaiseReviewProps): ReactNode {
  return (
    <Review
      title={`Review: ${subjectWords(override)} will get`}
      action={`Apply to ${override.tenant}`}
      isSaving={isSaving}
      problem={problem}
      onBack={onBack}
      onApply={onApply}
    >
      <ul className={classes.proposals}>
        {proposals.map((proposal) => (
          <li key={`${proposal.kind} ${proposal.name}`}>
            <span className={classes.proposalName}>{nameOf(proposal)}</span>
            <span className={classes.was}>{show(proposal, proposal.current)}</span>
            <IconArrowRight size={15} aria-label="becomes" />
            {isStaying(proposal, override.mode ?? 'at-least') ? (
              <span className={classes.stays}>
                stays {show(proposal, proposal.current)}
                {proposal.source.startsWith('override:') ? ` while that override lasts, then at least ${show(proposal, proposal.proposed)}` : ', “at least” never lowers'}
              </span>
            ) : (
              <strong>
                {override.mode === 'at-least' ? 'at least ' : ''}
                {show(proposal, proposal.proposed)}
              </strong>
            )}
          </li>
        ))}
      </ul>
      <Facts
        items={[
          ['Starts', override.from === undefined ? 'now' : <Time key="from" at={override.from} zone={policy.timezone} />],
          [
            'Ends by itself',
            override.until === undefined ? 'never, until reverted' : <Time key="until" at={override.until} zone={policy.timezone} />,
          ],
          ['Mode', override.mode],
          ['Ticket', override.ticket ?? 'none'],
          ['Reason', override.reason],
        ]}
      />
    </Review>
  );
}

function nameOf({ kind, name }: Proposal): string {
  switch (kind) {
    case 'limit':
      return `${name} limit`;
    case 'burst':
      return `${name} burst`;
    case 'allowance':
      return `${name} per month`;
    case 'concurrency':
      return 'in flight';
  }
}

function show({ kind, windowMs }: Proposal, units: number | null): string {
  return kind === 'limit' && windowMs !== null ? formatRate(units, windowMs) : formatCount(units);
}
