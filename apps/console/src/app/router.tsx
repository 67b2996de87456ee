import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { slug } from '@quotaplane/contracts';
import { z } from 'zod';
import { AuditPage } from '../features/audit/routes/audit-page';
import { auditSearch } from '../features/audit/routes/audit.search';
import { EndpointClassesPage } from '../features/classes/routes/endpoint-classes-page';
import { ListsPage } from '../features/lists/routes/lists-page';
import { listsSearch, penaliseSearch } from '../features/lists/routes/lists.search';
import { OffendersPage } from '../features/offenders/routes/offenders-page';
import { offendersSearch } from '../features/offenders/routes/offenders.search';
import { OverridesPage } from '../features/overrides/routes/overrides-page';
import { overridesSearch } from '../features/overrides/routes/overrides.search';
import { OverviewPage } from '../features/overview/routes/overview-page';
import { NodesPage } from '../features/rollout/routes/nodes-page';
import { sessionQuery } from '../features/session/api/session.queries';
import { SignInPage } from '../features/session/routes/sign-in-page';
import { signInSearch } from '../features/session/routes/sign-in.search';
import { SettingsPage } from '../features/settings/routes/settings-page';
import { TenantPage } from '../features/tenants/routes/tenant-page';
import { TenantsPage } from '../features/tenants/routes/tenants-page';
import { tenantsSearch } from '../features/tenants/routes/tenants.search';
import { TierPage } from '../features/tiers/routes/tier-page';
import { TiersPage } from '../features/tiers/routes/tiers-page';
import { UsagePage } from '../features/usage/routes/usage-page';
import { usageSearch } from '../features/usage/routes/usage.search';
import { StatementPage } from '../features/statements/routes/statement-page';
import { StatementsPage } from '../features/statements/routes/statements-page';
import { statementsSearch } from '../features/statements/routes/statements.search';
import { WebhookPage } from '../features/webhooks/routes/webhook-page';
import { webhookSearch } from '../features/webhooks/routes/webhook.search';
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
  component: SignInPage,
  validateSearch: signInSearch,
  beforeLoad: async ({ context, search }) => {
    if (await context.queryClient.ensureQueryData(sessionQuery).catch(() => null)) throw redirect({ href: search.next ?? '/' });
  },
});

/** Everything behind the sign-in. `raise`, `grant` and `penalise` open their dialogs over any page, so that they can be linked to. */
const consoleSearch = z.object({
  raise: slug.optional().catch(undefined),
  grant: slug.optional().catch(undefined),
  penalise: penaliseSearch,
});
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

const overview = createRoute({ getParentRoute, path: '/', component: OverviewPage });
const tenants = createRoute({ getParentRoute, path: '/tenants', component: TenantsPage, validateSearch: tenantsSearch });
const tenant = createRoute({ getParentRoute, path: '/tenants/$slug', component: TenantPage });
const offenders = createRoute({ getParentRoute, path: '/offenders', component: OffendersPage, validateSearch: offendersSearch });
const overrides = createRoute({ getParentRoute, path: '/overrides', component: OverridesPage, validateSearch: overridesSearch });
const lists = createRoute({ getParentRoute, path: '/lists', component: ListsPage, validateSearch: listsSearch });
const usage = createRoute({ getParentRoute, path: '/usage', component: UsagePage, validateSearch: usageSearch });
const statements = createRoute({ getParentRoute, path: '/statements', component: StatementsPage, validateSearch: statementsSearch });
const statement = createRoute({ getParentRoute, path: '/statements/$id', component: StatementPage });
const audit = createRoute({ getParentRoute, path: '/audit', component: AuditPage, validateSearch: auditSearch });
const tiers = createRoute({ getParentRoute, path: '/tiers', component: TiersPage });
const tier = createRoute({ getParentRoute, path: '/tiers/$slug', component: TierPage });
const endpointClasses = createRoute({ getParentRoute, path: '/endpoint-classes', component: EndpointClassesPage });
const nodes = createRoute({ getParentRoute, path: '/nodes', component: NodesPage });
const settings = createRoute({ getParentRoute, path: '/settings', component: SettingsPage });
const webhook = createRoute({ getParentRoute, path: '/settings/webhooks/$id', component: WebhookPage, validateSearch: webhookSearch });
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
  defaultPreload: false,
  defaultErrorComponent: RouteFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
