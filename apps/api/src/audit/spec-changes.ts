import { routes, type RouteContract } from '@quotaplane/contracts';
import type { SpecApp } from '../http/spec-app';

/** How to call one mutating route so that it succeeds: what must be there first, then the request itself. */
export interface MutationCase {
  readonly route: RouteContract;
  /** @returns path, body and version of a call that succeeds; `n` makes names unique */
  prepare(api: SpecApp, n: string): Promise<{ path: string; body?: unknown; ifMatch?: number }>;
}

const CONTENT = { limits: [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000 }], quotas: [] };

async function tier(api: SpecApp, n: string): Promise<string> {
  await api.call('POST', '/v1/tiers', { body: { slug: n, name: n } });
  return `/v1/tiers/${n}`;
}

async function draft(api: SpecApp, n: string): Promise<string> {
  const path = await tier(api, n);
  await api.call('PUT', `${path}/draft`, { body: CONTENT, ifMatch: 0 });
  return path;
}

async function endpointClass(api: SpecApp, n: string): Promise<string> {
  await api.call('POST', '/v1/endpoint-classes', { body: { slug: n } });
  return `/v1/endpoint-classes/${n}`;
}

const UNTIL = '2999-01-01T00:00:00Z';
const ENTRY = { subject: { scope: 'ip', id: '192.0.2.0/24' }, reason: 'a reason' };

async function entry(api: SpecApp, path: '/v1/lists' | '/v1/penalties'): Promise<string> {
  const { id } = (await api.call('POST', path, { body: path === '/v1/lists' ? { list: 'deny', ...ENTRY } : { ...ENTRY, until: UNTIL } })).body;
  return `${path}/${id}?reason=over`;
}

/** Every mutating route of tiers, classes, lists, penalties, settings, operators and tokens. A route that is missing here fails the spec. */
export const MUTATIONS: readonly MutationCase[] = [
  { route: routes.tiersCreate, prepare: async (_, n) => ({ path: '/v1/tiers', body: { slug: n, name: n } }) },
  { route: routes.tiersPatch, prepare: async (api, n) => ({ path: await tier(api, n), body: { weight: 7 }, ifMatch: 1 }) },
  { route: routes.tiersArchive, prepare: async (api, n) => ({ path: `${await tier(api, n)}/archive` }) },
  { route: routes.tierDraftPut, prepare: async (api, n) => ({ path: `${await tier(api, n)}/draft`, body: CONTENT, ifMatch: 0 }) },
  { route: routes.tierDraftDelete, prepare: async (api, n) => ({ path: `${await draft(api, n)}/draft`, ifMatch: 1 }) },
  { route: routes.tierPublish, prepare: async (api, n) => ({ path: `${await draft(api, n)}/publish`, body: {} }) },
  { route: routes.classesCreate, prepare: async (_, n) => ({ path: '/v1/endpoint-classes', body: { slug: n } }) },
  { route: routes.classesPatch, prepare: async (api, n) => ({ path: await endpointClass(api, n), body: { cost: 3 }, ifMatch: 1 }) },
  { route: routes.classesDelete, prepare: async (api, n) => ({ path: await endpointClass(api, n), ifMatch: 1 }) },
  { route: routes.listsCreate, prepare: () => Promise.resolve({ path: '/v1/lists', body: { list: 'allow', ...ENTRY } }) },
  { route: routes.listsDelete, prepare: async (api) => ({ path: await entry(api, '/v1/lists'), ifMatch: 1 }) },
  { route: routes.penaltiesCreate, prepare: () => Promise.resolve({ path: '/v1/penalties', body: { ...ENTRY, until: UNTIL } }) },
  { route: routes.penaltiesDelete, prepare: async (api) => ({ path: await entry(api, '/v1/penalties'), ifMatch: 1 }) },
  {
    route: routes.settingsPatch,
    prepare: async (api, n) => {
      await api.call('POST', `${await draft(api, n)}/publish`, { body: {} });
      const { version } = (await api.call('GET', '/v1/settings')).body;
      return { path: '/v1/settings', body: { fallbackTier: n }, ifMatch: version ?? 1 };
    },
  },
  { route: routes.operatorsCreate, prepare: async (_, n) => ({ path: '/v1/operators', body: { email: `${n}@example.com`, name: n, role: 'viewer', password: 'long enough now' } }) },
  {
    route: routes.operatorsPatch,
    prepare: async (api, n) => {
      const { id } = (await api.call('POST', '/v1/operators', { body: { email: `${n}@example.com`, name: n, role: 'viewer', password: 'long enough now' } })).body;
      return { path: `/v1/operators/${id}`, body: { name: 'Other' }, ifMatch: 1 };
    },
  },
  { route: routes.tokensCreate, prepare: async (_, n) => ({ path: '/v1/tokens', body: { name: n, scopes: ['tiers:read'], binding: { kind: 'platform' } } }) },
  {
    route: routes.tokensDelete,
    prepare: async (api, n) => {
      const { id } = (await api.call('POST', '/v1/tokens', { body: { name: n, scopes: ['tiers:read'], binding: { kind: 'platform' } } })).body;
      return { path: `/v1/tokens/${id}`, ifMatch: 1 };
    },
  },
];

/** The rooms of {@link MUTATIONS} by tag; the rooms of tenants have their own spec. */
export const MUTATION_TAGS: readonly string[] = ['tiers', 'endpoint classes', 'lists', 'penalties', 'settings', 'access'];
