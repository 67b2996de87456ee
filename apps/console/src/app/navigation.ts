import type { ComponentType } from 'react';
import {
  IconBan,
  IconFileCheck,
  IconHistory,
  IconLayoutDashboard,
  IconReceipt2,
  IconRoute,
  IconServer2,
  IconSettings,
  IconShieldExclamation,
  IconStack2,
  IconTrendingUp,
  IconUsers,
  type IconProps,
} from '@tabler/icons-react';
import type { Right } from '@quotaplane/contracts';

export interface Destination {
  readonly to: '/' | '/tenants' | '/offenders' | '/overrides' | '/lists' | '/usage' | '/statements' | '/audit' | '/tiers' | '/endpoint-classes' | '/nodes' | '/settings';
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
  /** Second key after `g`. */
  readonly key: string;
  /** Without it the page would have nothing to show. */
  readonly right?: Right;
}

export const DESTINATIONS: readonly (readonly [group: string, items: readonly Destination[]])[] = [
  [
    'Watch',
    [
      { to: '/', label: 'Overview', icon: IconLayoutDashboard, key: 'h', right: 'nodes:read' },
      { to: '/tenants', label: 'Tenants', icon: IconUsers, key: 't', right: 'tenants:read' },
      { to: '/offenders', label: 'Offenders', icon: IconShieldExclamation, key: 'o', right: 'offenders:read' },
      { to: '/overrides', label: 'Overrides', icon: IconTrendingUp, key: 'v', right: 'overrides:read' },
      { to: '/lists', label: 'Lists & penalties', icon: IconBan, key: 'l', right: 'penalties:read' },
      { to: '/usage', label: 'Usage', icon: IconReceipt2, key: 'u', right: 'usage:read' },
      { to: '/statements', label: 'Statements', icon: IconFileCheck, key: 'b', right: 'usage:read' },
      { to: '/audit', label: 'Audit', icon: IconHistory, key: 'a', right: 'audit:read' },
    ],
  ],
  [
    'Shape',
    [
      { to: '/tiers', label: 'Tiers', icon: IconStack2, key: 'i', right: 'tiers:read' },
      { to: '/endpoint-classes', label: 'Endpoint classes', icon: IconRoute, key: 'c', right: 'classes:read' },
    ],
  ],
  [
    'Run',
    [
      { to: '/nodes', label: 'Nodes', icon: IconServer2, key: 'n', right: 'nodes:read' },
      { to: '/settings', label: 'Settings', icon: IconSettings, key: 's', right: 'settings:read' },
    ],
  ],
];

export const ALL_DESTINATIONS = DESTINATIONS.flatMap(([, items]) => items);
