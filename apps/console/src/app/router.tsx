import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { SLUG_PATTERN } from '../api/contract.facts';
import { auditSearch } from '../features/audit/routes/audit.search';
import { listsSearch, penalise } from '../features/lists/routes/lists.search';
import { offendersSearch } from '../features/offenders/routes/offenders.search';
import { overridesSearch } from '../features/overrides/routes/overrides.search';
import { sessionQuery } from '../features/session/api/session.queries';
import { signInSearch } from '../features/session/routes/sign-in.search';
import { tenantsSearch } from '../features/tenants/routes/tenants.search';
import { usageSearch } from '../features/usage/routes/usage.search';
import { statementsSearch } from '../features/statements/routes/statements.search';
import { webhookSearch } from '../features/webhooks/routes/webhook.search';
import { checkedSearch, matching } from '../search/checked-search';
import { withFieldStyles, withStyles } from '../styles/with-styles';
import { createQueryClient } from './query-client';
import { NotFoundPage, RouteFailure } from './route-failure';
import { Shell } from './shell';

interface RouterContext {
  readonly queryClient: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet, notFoundComponent: NotFoundPage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => withFieldStyles(() => import('../features/session/routes/sign-in-page')), 'SignInPage'),
  validateSearch: signInSearch,
  beforeLoad: async ({ context, search }) => {
    if (await context.queryClient.ensureQueryData(sessionQuery).catch(() => null)) throw redirect({ href: search.next ?? '/' });
  },
});

/** Everything behind the sign-in. `raise`, `grant` and `penalise` open their dialogs over any page, so that they can be linked to. */
const consoleSearch = checkedSearch({ raise: matching(SLUG_PATTERN), grant: matching(SLUG_PATTERN), penalise });
const shell = createRoute({
  getParentRoute: () => root,
  id: 'console',
  component: Shell,
  validateSearch: consoleSearch,
  errorComponent: RouteFailure,
  notFoundComponent: NotFoundPage,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: '/sign-in', search: { next: location.href === '/' ? undefined : location.href } });
  },
});
const getParentRoute = () => shell;

// Each page is a file of its own, so that the first one does not wait for the tables, charts and forms of the others.

const overview = createRoute({ getParentRoute, path: '/', component: lazyRouteComponent(() => import('../features/overview/routes/overview-page'), 'OverviewPage') });
const tenants = createRoute({ getParentRoute, path: '/tenants', component: lazyRouteComponent(() => withStyles(() => import('../features/tenants/routes/tenants-page')), 'TenantsPage'), validateSearch: tenantsSearch });
const tenant = createRoute({ getParentRoute, path: '/tenants/$slug', component: lazyRouteComponent(() => withStyles(() => import('../features/tenants/routes/tenant-page')), 'TenantPage') });
const offenders = createRoute({ getParentRoute, path: '/offenders', component: lazyRouteComponent(() => withStyles(() => import('../features/offenders/routes/offenders-page')), 'OffendersPage'), validateSearch: offendersSearch });
const overrides = createRoute({ getParentRoute, path: '/overrides', component: lazyRouteComponent(() => withStyles(() => import('../features/overrides/routes/overrides-page')), 'OverridesPage'), validateSearch: overridesSearch });
const lists = createRoute({ getParentRoute, path: '/lists', component: lazyRouteComponent(() => withStyles(() => import('../features/lists/routes/lists-page')), 'ListsPage'), validateSearch: listsSearch });
const usage = createRoute({ getParentRoute, path: '/usage', component: lazyRouteComponent(() => withStyles(() => import('../features/usage/routes/usage-page')), 'UsagePage'), validateSearch: usageSearch });
const statements = createRoute({ getParentRoute, path: '/statements', component: lazyRouteComponent(() => withStyles(() => import('../features/statements/routes/statements-page')), 'StatementsPage'), validateSearch: statementsSearch });
const statement = createRoute({ getParentRoute, path: '/statements/$id', component: lazyRouteComponent(() => withStyles(() => import('../features/statements/routes/statement-page')), 'StatementPage') });
const audit = createRoute({ getParentRoute, path: '/audit', component: lazyRouteComponent(() => withStyles(() => import('../features/audit/routes/audit-page')), 'AuditPage'), validateSearch: auditSearch });
const tiers = createRoute({ getParentRoute, path: '/tiers', component: lazyRouteComponent(() => withStyles(() => import('../features/tiers/routes/tiers-page')), 'TiersPage') });
const tier = createRoute({ getParentRoute, path: '/tiers/$slug', component: lazyRouteComponent(() => withStyles(() => import('../features/tiers/routes/tier-page')), 'TierPage') });
const endpointClasses = createRoute({ getParentRoute, path: '/endpoint-classes', component: lazyRouteComponent(() => withStyles(() => import('../features/classes/routes/endpoint-classes-page')), 'EndpointClassesPage') });
const nodes = createRoute({ getParentRoute, path: '/nodes', component: lazyRouteComponent(() => withStyles(() => import('../features/rollout/routes/nodes-page')), 'NodesPage') });
const settings = createRoute({ getParentRoute, path: '/settings', component: lazyRouteComponent(() => withStyles(() => import('../features/settings/routes/settings-page')), 'SettingsPage') });
const webhook = createRoute({ getParentRoute, path: '/settings/webhooks/$id', component: lazyRouteComponent(() => withStyles(() => import('../features/webhooks/routes/webhook-page')), 'WebhookPage'), validateSearch: webhookSearch });
/** Whatever else is asked for: the navigation stays, so that there is a way on. */
const unknown = createRoute({ getParentRoute, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  signIn,
  shell.addChildren([overview, tenants, tenant, offenders, overrides, lists, usage, statements, statement, audit, tiers, tier, endpointClasses, nodes, settings, webhook, unknown]),
]);

export const queryClient = createQueryClient(() => {
  const next = router.state.location.href;
  void router.navigate({ to: '/sign-in', search: { next: next === '/' ? undefined : next } });
});

export const router = createRouter({
  routeTree,
  context: { queryClient },
  // A page's file comes while the pointer is on its link; no page loads data this way.
  defaultPreload: 'intent',
  defaultErrorComponent: RouteFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
