import { useState, type ReactNode } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { IconSearch, IconStack2, IconTrendingUp, IconUser } from '@tabler/icons-react';
import { call } from '../api/client';
import { useCan } from '../features/session/api/session.queries';
import { tenantKeys } from '../features/tenants/api/tenant.queries';
import { tierListQuery } from '../features/tiers/api/tier.queries';
import { ALL_DESTINATIONS } from './navigation';

const [store, actions] = createSpotlight();
export const palette = actions;

const RAISE_PREFIX = /^raise\s+/i;
const SHOWN = 5;

/** `Ctrl-K`: tenants by the server's search, tiers, pages, and raising a limit without leaving the page. */
export function CommandPalette(): ReactNode {
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const mayRaise = useCan('overrides:write');
  const needle = query.trim().replace(RAISE_PREFIX, '').toLowerCase();
  const [searched] = useDebouncedValue(needle, 120);
  const tenants = useQuery({
    queryKey: tenantKeys.search(searched),
    queryFn: ({ signal }) => call('tenantsList', { query: { q: searched || undefined, limit: SHOWN }, signal }),
    placeholderData: keepPreviousData,
    enabled: searched !== '',
  });
  const tiers = useQuery(tierListQuery);
  const isRaising = RAISE_PREFIX.test(query);
  const found = needle === '' ? [] : (tenants.data?.items ?? []);
  const raise = (slug: string): void => void navigate({ to: '.', search: (before) => ({ ...before, raise: slug }), resetScroll: false });
  const matchingTiers = isRaising || needle === '' ? [] : (tiers.data?.items ?? []).filter((tier) => tier.slug.includes(needle) || tier.name.toLowerCase().includes(needle)).slice(0, SHOWN);
  const pages = isRaising ? [] : ALL_DESTINATIONS.filter(({ label }) => label.toLowerCase().includes(needle));
  const isEmpty = found.length + matchingTiers.length + pages.length === 0;
  return (
    <Spotlight.Root store={store} query={query} onQueryChange={setQuery} shortcut="mod + K" tagsToIgnore={[]} scrollable maxHeight={440}>
      <Spotlight.Search placeholder="Find a tenant or tier, or type “raise hobby”" leftSection={<IconSearch size={18} stroke={1.7} />} aria-label="Search or run a command" />
      <Spotlight.ActionsList>
        {found.length > 0 && !isRaising ? (
          <Spotlight.ActionsGroup label="Tenants">
            {found.map((tenant) => <Spotlight.Action key={tenant.slug} label={tenant.slug} description={`${tenant.name}, tier ${tenant.tier}`} leftSection={<IconUser size={18} stroke={1.6} />} onClick={() => void navigate({ to: '/tenants/$slug', params: { slug: tenant.slug } })} />)}
          </Spotlight.ActionsGroup>
        ) : null}
        {found.length > 0 && mayRaise ? (
          <Spotlight.ActionsGroup label="Raise a limit">
            {found.slice(0, isRaising ? SHOWN : 2).map((tenant) => <Spotlight.Action key={tenant.slug} label={`Raise a limit of ${tenant.slug}`} leftSection={<IconTrendingUp size={18} stroke={1.6} />} onClick={() => raise(tenant.slug)} />)}
          </Spotlight.ActionsGroup>
        ) : null}
        {matchingTiers.length > 0 ? (
          <Spotlight.ActionsGroup label="Tiers">
            {matchingTiers.map((tier) => <Spotlight.Action key={tier.slug} label={`Tier ${tier.slug}`} description={`${tier.tenants} tenants`} leftSection={<IconStack2 size={18} stroke={1.6} />} onClick={() => void navigate({ to: '/tiers/$slug', params: { slug: tier.slug } })} />)}
          </Spotlight.ActionsGroup>
        ) : null}
        {pages.length > 0 ? (
          <Spotlight.ActionsGroup label="Go to">
            {pages.map(({ to, label, icon: Icon, key }) => <Spotlight.Action key={to} label={label} leftSection={<Icon size={18} stroke={1.6} />} rightSection={<kbd>g {key}</kbd>} onClick={() => void navigate({ to })} />)}
          </Spotlight.ActionsGroup>
        ) : null}
        {isEmpty ? <Spotlight.Empty>{tenants.isFetching ? 'Searching…' : 'Nothing found. Slugs and names are searched.'}</Spotlight.Empty> : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
