import * as journals from '../resources/journals';
import * as keys from '../resources/keys';
import * as overrides from '../resources/overrides';
import { pageQuery } from '../resources/page';
import * as tenants from '../resources/tenants';
import * as usage from '../resources/usage';
import type { RouteContract } from '../route';
import { byId, bySlug, bySlugAndId } from './params';

/** Tenants with their keys, overrides and usage. `tenantParam` is where a token's binding is applied. */
export const tenantRoutes = {
  tenantsList: { method: 'GET', path: '/v1/tenants', summary: 'Search tenants', tag: 'tenants', access: 'tenants:read', query: tenants.tenantQuery, response: tenants.tenantPage, status: 200 },
  tenantsCreate: { method: 'POST', path: '/v1/tenants', summary: 'Create a tenant', tag: 'tenants', access: 'tenants:write', body: tenants.tenantCreate, response: tenants.tenantChanged, status: 201, idempotent: true },
  tenantsGet: { method: 'GET', path: '/v1/tenants/{slug}', summary: 'Read a tenant', tag: 'tenants', access: 'tenants:read', params: bySlug, response: tenants.tenantSchema, status: 200, tenantParam: 'slug' },
  tenantsPatch: { method: 'PATCH', path: '/v1/tenants/{slug}', summary: 'Change a tenant', tag: 'tenants', access: 'tenants:write', params: bySlug, body: tenants.tenantPatch, response: tenants.tenantChanged, status: 200, ifMatch: true, tenantParam: 'slug' },
  tenantsDelete: { method: 'DELETE', path: '/v1/tenants/{slug}', summary: 'Delete a tenant; its usage and audit stay', tag: 'tenants', access: 'tenants:write', params: bySlug, response: tenants.tenantChanged, status: 200, ifMatch: true, tenantParam: 'slug' },
  tenantTierPut: { method: 'PUT', path: '/v1/tenants/{slug}/tier', summary: 'Move a tenant to another tier', tag: 'tenants', access: 'tenants:write', params: bySlug, body: tenants.tenantTierPut, response: tenants.tenantChanged, status: 200, ifMatch: true, tenantParam: 'slug' },
  tenantTierPreview: { method: 'GET', path: '/v1/tenants/{slug}/tier/preview', summary: 'Quotas before and after a move to another tier', tag: 'tenants', access: 'tenants:read', params: bySlug, query: tenants.tierPreviewQuery, response: tenants.tierPreview, status: 200, tenantParam: 'slug' },
  tenantPolicyGet: { method: 'GET', path: '/v1/tenants/{slug}/policy', summary: 'Effective limits, each number with its source', tag: 'tenants', access: 'tenants:read', params: bySlug, response: tenants.tenantPolicy, status: 200, tenantParam: 'slug' },
  tenantSeriesGet: { method: 'GET', path: '/v1/tenants/{slug}/usage', summary: 'Allowed and denied over time', tag: 'usage', access: 'usage:read', params: bySlug, query: usage.seriesQuery, response: usage.usageSeries, status: 200, tenantParam: 'slug' },

  keysList: { method: 'GET', path: '/v1/tenants/{slug}/keys', summary: 'List API keys', tag: 'keys', access: 'keys:read', params: bySlug, query: pageQuery, response: keys.apiKeyPage, status: 200, tenantParam: 'slug' },
  keysCreate: { method: 'POST', path: '/v1/tenants/{slug}/keys', summary: 'Create an API key; the secret is shown once', tag: 'keys', access: 'keys:write', params: bySlug, body: keys.apiKeyCreate, response: keys.apiKeyCreated, status: 201, idempotent: true, secretFields: ['secret'], tenantParam: 'slug' },
  keysGet: { method: 'GET', path: '/v1/tenants/{slug}/keys/{id}', summary: 'Read an API key', tag: 'keys', access: 'keys:read', params: bySlugAndId, response: keys.apiKeySchema, status: 200, tenantParam: 'slug' },
  keysDelete: { method: 'DELETE', path: '/v1/tenants/{slug}/keys/{id}', summary: 'Revoke an API key', tag: 'keys', access: 'keys:write', params: bySlugAndId, response: keys.apiKeyChanged, status: 200, ifMatch: true, tenantParam: 'slug' },

  overridesList: { method: 'GET', path: '/v1/overrides', summary: 'List overrides, newest first', tag: 'overrides', access: 'overrides:read', query: overrides.overrideQuery, response: overrides.overridePage, status: 200, tenantParam: 'tenant' },
  overridesCreate: { method: 'POST', path: '/v1/overrides', summary: 'Raise or set limits of one tenant', tag: 'overrides', access: 'overrides:write', body: overrides.overrideCreate, response: overrides.overrideChanged, status: 201, idempotent: true, tenantParam: 'tenant' },
  overridesGet: { method: 'GET', path: '/v1/overrides/{id}', summary: 'Read an override', tag: 'overrides', access: 'overrides:read', params: byId, response: overrides.overrideSchema, status: 200 },
  overridesPatch: { method: 'PATCH', path: '/v1/overrides/{id}', summary: 'Change or extend an override', tag: 'overrides', access: 'overrides:write', params: byId, body: overrides.overridePatch, response: overrides.overrideChanged, status: 200, ifMatch: true },
  overridesDelete: { method: 'DELETE', path: '/v1/overrides/{id}', summary: 'End an override now', tag: 'overrides', access: 'overrides:write', params: byId, response: overrides.overrideChanged, status: 200, ifMatch: true },
  overridesRevert: { method: 'POST', path: '/v1/overrides/{id}/revert', summary: 'End an override now, with a reason', tag: 'overrides', access: 'overrides:write', params: byId, body: overrides.overrideRevert, response: overrides.overrideChanged, status: 200, idempotent: true },

  usageList: { method: 'GET', path: '/v1/usage', summary: 'Usage by tenant, meter and period', tag: 'usage', access: 'usage:read', query: usage.usageQuery, response: usage.usagePage, status: 200, tenantParam: 'tenant' },
  usageDegradedList: { method: 'GET', path: '/v1/usage/degraded', summary: 'What was admitted while the store was away, by the hour, and how it was settled', tag: 'usage', access: 'usage:read', query: usage.degradedUsageQuery, response: usage.degradedUsagePage, status: 200, tenantParam: 'tenant' },
  journalsPost: { method: 'POST', path: '/v1/journals', summary: 'Take the journal of a node that could not reach Redis', tag: 'usage', access: 'usage:write', body: journals.journalDocument, response: journals.journalAccepted, status: 200, idempotent: true, bodyLimitBytes: journals.JOURNAL_BODY_BYTES },
  usageExport: { method: 'GET', path: '/v1/usage/export', summary: 'Stream usage as CSV or NDJSON', tag: 'usage', access: 'usage:read', query: usage.usageExportQuery, response: 'csv-or-ndjson', status: 200, tenantParam: 'tenant' },
} as const satisfies Record<string, RouteContract>;
