import { useState, type ReactNode } from 'react';
import { Button, NumberInput, Select } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { tenantCreate, type Tenant } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { Time } from '../../../components/figures';
import { FormModal, type FormExit } from '../../../components/form-modal';
import layout from '../../../components/layout.module.css';
import { Notice } from '../../../components/notices';
import { Facts } from '../../../components/page';
import { Review } from '../../../components/review';
import { auditKeys } from '../../audit/api/audit.queries';
import { announceChange } from '../../rollout/components/announce-change';
import { tenantKeys, tenantPolicyQuery } from '../api/tenant.queries';
import { calendarWords } from './calendar-words';
import { ZONES } from './zones';

interface ChangeCalendarProps {
  readonly tenant: Tenant;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const calendar = tenantCreate.pick({ timezone: true, anchorDay: true });
type Calendar = z.output<typeof calendar>;

/** Zone and first day of the billing periods: a form, then a review that says when it takes effect. */
export function ChangeCalendar({ tenant, isOpen, onClose }: ChangeCalendarProps): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title={`Change the billing calendar of ${tenant.slug}`}>
      {(exit) => <Steps tenant={tenant} exit={exit} />}
    </FormModal>
  );
}

function Steps({ tenant, exit }: { readonly tenant: Tenant; readonly exit: FormExit }): ReactNode {
  const { slug, timezone, anchorDay, version } = tenant;
  const queryClient = useQueryClient();
  const policy = useQuery(tenantPolicyQuery(slug));
  const [reviewed, setReviewed] = useState<Calendar>();
  const form = useForm<z.input<typeof calendar>, unknown, Calendar>({ resolver: zodResolver(calendar), defaultValues: { timezone, anchorDay } });
  const patch = useMutation({
    mutationFn: (body: Calendar) => call('tenantsPatch', { params: { slug }, body, ifVersion: version }),
    onSuccess: ({ changeId }) => {
      for (const queryKey of [tenantKeys.all, auditKeys.all]) void queryClient.invalidateQueries({ queryKey });
      announceChange(`Billing calendar of ${slug} changed`, changeId);
      exit.settle();
      exit.leave();
    },
  });
  if (reviewed) {
    return (
      <Review
        title={`Review: periods of ${slug} will start on ${calendarWords(reviewed)}`}
        action="Change calendar"
        isSaving={patch.isPending}
        problem={patch.error}
        onBack={() => setReviewed(undefined)}
        onApply={() => patch.mutate(reviewed)}
      >
        <Notice>
          The running period keeps its end; the new calendar holds from there. A shorter transition period may come first: the tenant’s page shows it once this
          is saved, and it has the full allowance.
        </Notice>
        <Facts
          items={[
            ['Until now', calendarWords(tenant)],
            ['Takes effect', policy.data ? <Time key="at" at={policy.data.period.endMs} zone={policy.data.timezone} /> : 'when the running period ends'],
          ]}
        />
      </Review>
    );
  }
  const { errors, isDirty } = form.formState;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit(setReviewed)}>
      <Controller
        control={form.control}
        name="timezone"
        render={({ field }) => (
          <Select
            label="Time zone"
            description="Billing periods start at local midnight there"
            searchable
            allowDeselect={false}
            error={errors.timezone?.message}
            data={[...ZONES]}
            limit={50}
            value={field.value ?? timezone}
            onChange={(zone) => field.onChange(zone ?? timezone)}
          />
        )}
      />
      <Controller
        control={form.control}
        name="anchorDay"
        render={({ field }) => (
          <NumberInput
            label="Period starts on day"
            description="1 to 31; short months start on their last day"
            min={1}
            max={31}
            error={errors.anchorDay ? 'A day from 1 to 31' : undefined}
            value={field.value ?? ''}
            onChange={field.onChange}
            onBlur={field.onBlur}
          />
        )}
      />
      <div className={layout.row}>
        <span className={layout.spring} />
        <Button variant="default" onClick={exit.leave}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isDirty}>
          Review
        </Button>
      </div>
    </form>
  );
}
