import type { ReactNode } from 'react';
import { Input, NativeSelect, SegmentedControl, TextInput } from '@mantine/core';
import type { OverrideSubject, TenantPolicy } from '@quotaplane/contracts';
import { useQuery } from '@tanstack/react-query';
import { Controller } from 'react-hook-form';
import { Notice } from '../../../components/notices';
import { tenantKeysQuery } from '../../tenants/api/tenant.queries';
import type { RaiseForm } from './raise-numbers';
import { offeredTo } from './raise-values';
import classes from './raise.module.css';

const SUBJECTS: readonly { readonly value: OverrideSubject['scope']; readonly label: string }[] = [
  { value: 'tenant', label: 'Whole tenant' },
  { value: 'key', label: 'One key' },
  { value: 'user', label: 'One user' },
  { value: 'ip', label: 'One address' },
];
const WORDS = { key: 'single keys', user: 'single users', ip: 'single addresses' } as const;

/** Whom the numbers are for. A single key, user or address has only the limits that count by it. */
export function RaiseSubject({ form, policy }: { readonly form: RaiseForm; readonly policy: TenantPolicy }): ReactNode {
  const scope = form.watch('subject.scope');
  const error = form.formState.errors.subject?.id?.message;
  return (
    <div className={classes.subject}>
      <Controller
        control={form.control}
        name="subject.scope"
        render={({ field }) => (
          <Input.Wrapper label="For" labelElement="div">
            <div>
              <SegmentedControl
                size="xs"
                mt={4}
                aria-label="For"
                data={[...SUBJECTS]}
                value={field.value}
                onChange={(value) => {
                  field.onChange(value);
                  form.setValue('subject.id', '');
                }}
              />
            </div>
          </Input.Wrapper>
        )}
      />
      {scope === 'key' ? <KeyPicker form={form} tenant={policy.tenant} error={error} /> : null}
      {scope === 'user' ? (
        <TextInput label="User" description="As the service names it" className={classes.grow} error={error} {...form.register('subject.id')} />
      ) : null}
      {scope === 'ip' ? (
        <TextInput
          label="Address"
          description="IPv4, or IPv6, which counts by its /64"
          placeholder="192.0.2.1"
          className={classes.grow}
          error={error}
          {...form.register('subject.id')}
        />
      ) : null}
      {scope !== 'tenant' && offeredTo(policy, scope).limits.length === 0 ? (
        <Notice tone="warn">No limit of this tier counts {WORDS[scope]}, so there is nothing to raise for one.</Notice>
      ) : null}
    </div>
  );
}

interface KeyPickerProps {
  readonly form: RaiseForm;
  readonly tenant: string;
  readonly error: string | undefined;
}

/** The tenant's live keys by name; past the 200 newest, a key is named by its id through the API. */
function KeyPicker({ form, tenant, error }: KeyPickerProps): ReactNode {
  const keys = useQuery(tenantKeysQuery(tenant));
  const live = (keys.data?.items ?? []).filter(({ revokedAt }) => revokedAt === null);
  const data = [{ value: '', label: keys.isPending ? 'loading…' : 'choose a key' }, ...live.map(({ id, name, hint }) => ({ value: id, label: `${name} (${hint}…)` }))];
  return (
    <NativeSelect
      label="Key"
      description={keys.isError ? 'The keys could not be read' : 'Live keys of this tenant'}
      className={classes.grow}
      data={data}
      error={error}
      {...form.register('subject.id')}
    />
  );
}
