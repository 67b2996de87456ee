import { useEffect, useRef, useState, type ReactNode } from 'react';
import { CloseButton, Kbd, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { IconSearch } from '@tabler/icons-react';
import { TENANT_STATUSES } from '../../../api/contract.facts';
import { tierListQuery } from '../../tiers/api/tier.queries';
import type { TenantsSearch } from '../routes/tenants.search';
import layout from '../../../components/layout.module.css';

interface TenantFiltersProps {
  readonly search: TenantsSearch;
  readonly onChange: (change: Partial<TenantsSearch>) => void;
}

/** Search and filters; all of them live in the URL, so that a view can be sent to a colleague. */
export function TenantFilters({ search, onChange }: TenantFiltersProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.q ?? '');
  const apply = useDebouncedCallback((value: string) => onChange({ q: value.trim() || undefined }), 200);
  useHotkeys([['/', () => input.current?.focus()]]);
  useEffect(() => {
    // The URL may change under the field: back, forward, a cleared filter.
    if (document.activeElement !== input.current) setText(search.q ?? '');
  }, [search.q]);
  const tiers = useQuery(tierListQuery);
  const change = (value: string): void => {
    setText(value);
    apply(value);
  };
  return (
    <div className={layout.toolbar} role="search">
      <TextInput
        ref={input}
        className={layout.grow}
        aria-label="Search tenants"
        placeholder="Search by slug or name"
        value={text}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          text ? (
            <CloseButton size="sm" aria-label="Clear the search" onClick={() => change('')} />
          ) : (
            <Kbd size="xs" aria-hidden>
              /
            </Kbd>
          )
        }
        onChange={(event) => change(event.currentTarget.value)}
      />
      <Select
        aria-label="Tier"
        placeholder="Any tier"
        clearable
        w={170}
        data={tiers.data?.items.map((tier) => ({ value: tier.slug, label: tier.name })) ?? []}
        clearButtonProps={{ 'aria-label': 'Any tier' }}
        value={search.tier ?? null}
        onChange={(tier) => onChange({ tier: tier ?? undefined })}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        w={150}
        data={[
          { value: 'active', label: 'Active' },
          { value: 'suspended', label: 'Suspended' },
        ]}
        clearButtonProps={{ 'aria-label': 'Any status' }}
        value={search.status ?? null}
        onChange={(status) => onChange({ status: TENANT_STATUSES.find((known) => known === status) })}
      />
    </div>
  );
}
