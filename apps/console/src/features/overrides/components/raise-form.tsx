import type { ReactNode } from 'react';
import { Button, Textarea, TextInput } from '@mantine/core';
import type { OverrideCreate, TenantPolicy } from '@quotaplane/contracts';
import { Notice, ProblemNotice } from '../../../components/notices';
import layout from '../../../components/layout.module.css';
import { RaiseNumbers, type RaiseForm as Form } from './raise-numbers';
import { RaiseSubject } from './raise-subject';
import { RaiseMode, RaiseWhen } from './raise-when';
import { complaintOf, isStaying, proposalsOf } from './raise-values';
import classes from './raise.module.css';

interface RaiseFormProps {
  readonly form: Form;
  readonly policy: TenantPolicy;
  readonly problem: unknown;
  readonly onReview: (override: OverrideCreate) => void;
  readonly onCancel: () => void;
}

/** First step: what, how long and why. */
export function RaiseForm({ form, policy, problem, onReview, onCancel }: RaiseFormProps): ReactNode {
  const { errors, isSubmitted } = form.formState;
  const values = form.watch();
  const proposals = proposalsOf(values, policy);
  const isLowering = proposals.some((proposal) => isStaying(proposal, values.mode));
  // Worked out anew with each change, so that it goes as soon as it is no longer true.
  const complaint = isSubmitted ? complaintOf(proposals, values.mode) : undefined;
  return (
    <form className={classes.form} noValidate onSubmit={form.handleSubmit(onReview)}>
      {problem ? <ProblemNotice error={problem} /> : null}
      <RaiseSubject form={form} policy={policy} />
      <RaiseNumbers form={form} policy={policy} />
      {complaint ? (
        <p className={classes.error} role="alert">
          {complaint}
        </p>
      ) : null}
      {isLowering && complaint === undefined ? <Notice tone="warn">“At least” never lowers a number. Choose “Exactly” to lower one.</Notice> : null}
      <div className={classes.two}>
        <RaiseWhen form={form} policy={policy} />
        <div className={layout.tight}>
          <Textarea
            label="Reason"
            description="Kept in the audit log; the next colleague reads it"
            required
            autosize
            minRows={2}
            error={errors.reason?.message}
            {...form.register('reason')}
          />
          <TextInput label="Ticket" placeholder="SUP-1234" error={errors.ticket?.message} {...form.register('ticket')} />
          <RaiseMode form={form} />
        </div>
      </div>
      <div className={classes.foot}>
        <span className={layout.spring} />
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit">Review</Button>
      </div>
    </form>
  );
}
