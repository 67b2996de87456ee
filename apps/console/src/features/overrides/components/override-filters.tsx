import { useState, type ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { SLUG_PATTERN, SUBJECT_PATTERN } from '../../../api/contract.facts';
import layout from '../../../components/layout.module.css';
import { matching } from '../../../search/checked-search';

const readTenant = matching(SLUG_PATTERN);
const readSubject = matching(SUBJECT_PATTERN, 110);

interface Filter {
  readonly tenant: string | undefined;
  readonly subject: string | undefined;
}

interface OverrideFiltersProps extends Filter {
  readonly onChange: (filter: Filter) => void;
}

/** Narrows the list to a tenant, and to one of its keys, users or addresses. Applied on Enter, for half a name finds nobody. */
export function OverrideFilters({ tenant, subject, onChange }: OverrideFiltersProps): ReactNode {
  const [typed, setTyped] = useState({ tenant: tenant ?? '', subject: subject ?? '' });
  const wanted = { tenant: typed.tenant.trim() || undefined, subject: typed.subject.trim() || undefined };
  const tenantFault = wanted.tenant === undefined || readTenant(wanted.tenant) !== undefined ? undefined : 'a slug such as acme';
  const subjectFault = wanted.subject === undefined || readSubject(wanted.subject) !== undefined ? undefined : 'key:…, user:… or ip:…';
  return (
    <form
      className={layout.toolbar}
      style={{ alignItems: 'flex-end' }}
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        if (tenantFault === undefined && subjectFault === undefined) onChange(wanted);
      }}
    >
      <TextInput
        label="Tenant"
        placeholder="all"
        value={typed.tenant}
        error={tenantFault}
        onChange={({ currentTarget: { value } }) => setTyped({ ...typed, tenant: value })}
      />
      <TextInput
        label="Subject"
        placeholder="user:ann, ip:192.0.2.1, single"
        w={280}
        value={typed.subject}
        error={subjectFault}
        onChange={({ currentTarget: { value } }) => setTyped({ ...typed, subject: value })}
      />
      <Button type="submit" variant="default">
        Filter
      </Button>
      {tenant === undefined && subject === undefined ? null : (
        <Button variant="subtle" onClick={() => onChange({ tenant: undefined, subject: undefined })}>
          Show all
        </Button>
      )}
    </form>
  );
}
