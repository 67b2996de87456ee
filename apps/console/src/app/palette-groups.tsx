import type { ReactNode } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { IconBan, IconGift, IconStack2, IconTrendingUp, IconUser } from '@tabler/icons-react';
import { useCan } from '../features/session/api/session.queries';
import { tenantSearchQuery } from '../features/tenants/api/tenant.queries';
import { tierListQuery } from '../features/tiers/api/tier.queries';
import { ALL_DESTINATIONS } from './navigation';

export interface PaletteItem {
  readonly label: string;
  readonly description?: string;
  readonly icon: ReactNode;
  /** Keys that do the same. */
  readonly keys?: string;
  readonly run: () => void;
}
export type PaletteGroup = readonly [name: string, items: readonly PaletteItem[]];

const ACTION_PREFIX = /^(raise|grant)\s+/i;
const SHOWN = 5;
const ICON = { size: 18, stroke: 1.6 } as const;

/** What fits the words: tenants by the server's search, tiers, pages, and raising a limit or granting more without leaving the page. */
export function usePaletteGroups(query: string): { groups: PaletteGroup[]; isSearching: boolean } {
  const navigate = useNavigate();
  const mayRaise = useCan('overrides:write');
  const mayPenalise = useCan('penalties:write');
  const mayGrant = useCan('topups:write');
  const action = ACTION_PREFIX.exec(query.trimStart())?.[1]?.toLowerCase();
  const needle = query.trim().replace(ACTION_PREFIX, '').toLowerCase();
  const [searched] = useDebouncedValue(needle, 120);
  const tenants = useQuery({ ...tenantSearchQuery(searched, SHOWN), placeholderData: keepPreviousData, enabled: searched !== '' });
  const tiers = useQuery(tierListQuery);

  const found = needle === '' ? [] : (tenants.data?.items ?? []);
  const matchingTiers =
    action !== undefined || needle === ''
      ? []
      : (tiers.data?.items ?? []).filter(({ slug, name }) => slug.includes(needle) || name.toLowerCase().includes(needle)).slice(0, SHOWN);
  const pages = action !== undefined ? [] : ALL_DESTINATIONS.filter(({ label }) => label.toLowerCase().includes(needle));
  const openTenant = found.map(
    ({ slug, name, tier }): PaletteItem => ({
      label: slug,
      description: `${name}, tier ${tier}`,
      icon: <IconUser {...ICON} />,
      run: () => void navigate({ to: '/tenants/$slug', params: { slug } }),
    }),
  );
  const actOn = (verb: 'raise' | 'grant', label: (slug: string) => string, icon: ReactNode): PaletteItem[] =>
    found
      .filter(({ reserved }) => !reserved)
      .slice(0, action === verb ? SHOWN : action === undefined ? 2 : 0)
      .map(({ slug }) => ({
        label: label(slug),
        icon,
        run: () => void navigate({ to: '.', search: (before) => ({ ...before, [verb]: slug }), resetScroll: false }),
      }));
  const raise = actOn('raise', (slug) => `Raise a limit of ${slug}`, <IconTrendingUp {...ICON} />);
  const grant = actOn('grant', (slug) => `Grant more to ${slug}`, <IconGift {...ICON} />);
  const openTier = matchingTiers.map(
    ({ slug, tenants: count }): PaletteItem => ({
      label: `Tier ${slug}`,
      description: `${count} tenants`,
      icon: <IconStack2 {...ICON} />,
      run: () => void navigate({ to: '/tiers/$slug', params: { slug } }),
    }),
  );
  const goTo = pages.map(
    ({ to, label, icon: Icon, key }): PaletteItem => ({ label, icon: <Icon {...ICON} />, keys: `g ${key}`, run: () => void navigate({ to }) }),
  );

  const penalise: PaletteItem = {
    label: 'Penalise a caller',
    icon: <IconBan {...ICON} />,
    run: () => void navigate({ to: '.', search: (before) => ({ ...before, penalise: { tenant: '', scope: 'ip', id: '' } }), resetScroll: false }),
  };
  const actions = mayPenalise && action === undefined && penalise.label.toLowerCase().includes(needle) ? [penalise] : [];

  const groups: PaletteGroup[] = [
    ['Tenants', action === undefined ? openTenant : []],
    ['Raise a limit', mayRaise ? raise : []],
    ['Grant more this month', mayGrant ? grant : []],
    ['Do', actions],
    ['Tiers', openTier],
    ['Go to', goTo],
  ];
  return { groups: groups.filter(([, items]) => items.length > 0), isSearching: tenants.isFetching || searched !== needle };
}
