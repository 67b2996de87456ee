import { pageQuery } from '../resources/page';
import * as records from '../resources/usage-records';
import * as statements from '../resources/statements';
import * as topUps from '../resources/top-ups';
import * as webhooks from '../resources/webhooks';
import type { RouteContract } from '../route';
import { byId, bySlug, bySlugAndId } from './params';

/** What a bill is made of, and who is told. */
export const billingRoutes = {
  usageRecordsPost: { method: 'POST', path: '/v1/usage/records', summary: 'Count usage that no guard has seen, once per (tenant, source, id); also CloudEvents', tag: 'usage', access: 'usage:write', body: records.usageRecordsBody, response: records.usageRecordsAccepted, status: 200, idempotent: true, bodyLimitBytes: records.USAGE_RECORDS_BODY_BYTES, bodyTypes: records.usageRecordsBodyTypes, headers: records.cloudEventHeaders, judgesItems: true },

  topUpsList: { method: 'GET', path: '/v1/tenants/{slug}/top-ups', summary: 'List top-ups, newest first', tag: 'top-ups', access: 'topups:read', params: bySlug, query: topUps.topUpQuery, response: topUps.topUpPage, status: 200, tenantParam: 'slug' },
  topUpsCreate: { method: 'POST', path: '/v1/tenants/{slug}/top-ups', summary: 'Grant units beyond the allowance, once', tag: 'top-ups', access: 'topups:write', params: bySlug, body: topUps.topUpCreate, response: topUps.topUpChanged, status: 201, idempotent: true, tenantParam: 'slug' },
  topUpsGet: { method: 'GET', path: '/v1/tenants/{slug}/top-ups/{id}', summary: 'Read a top-up', tag: 'top-ups', access: 'topups:read', params: bySlugAndId, response: topUps.topUpSchema, status: 200, tenantParam: 'slug' },
  topUpsDelete: { method: 'DELETE', path: '/v1/tenants/{slug}/top-ups/{id}', summary: 'Withdraw what is left of a top-up', tag: 'top-ups', access: 'topups:write', params: bySlugAndId, query: topUps.topUpWithdrawal, response: topUps.topUpChanged, status: 200, ifMatch: true, tenantParam: 'slug' },

  statementsList: { method: 'GET', path: '/v1/statements', summary: 'Closed periods, newest first', tag: 'statements', access: 'usage:read', query: statements.statementQuery, response: statements.statementPage, status: 200, tenantParam: 'tenant' },
  statementsVerify: { method: 'GET', path: '/v1/statements/verify', summary: 'Recompute statements from the raw rows and check their chains', tag: 'statements', access: 'usage:read', query: statements.statementVerificationQuery, response: statements.statementVerification, status: 200, tenantParam: 'tenant' },
  statementsExport: { method: 'GET', path: '/v1/statements/export', summary: 'Stream statement lines as CSV or NDJSON', tag: 'statements', access: 'usage:read', query: statements.statementExportQuery, response: 'csv-or-ndjson', status: 200, tenantParam: 'tenant' },
  statementsGet: { method: 'GET', path: '/v1/statements/{id}', summary: 'Read a statement with its reconciliation and adjustments', tag: 'statements', access: 'usage:read', params: byId, response: statements.statementSchema, status: 200 },
  periodsClose: { method: 'POST', path: '/v1/tenants/{slug}/periods/{period}/close', summary: 'Close an ended period now, without waiting for late usage', tag: 'statements', access: 'usage:write', params: statements.bySlugAndPeriod, response: statements.statementClosed, status: 200, idempotent: true, tenantParam: 'slug' },

  webhooksList: { method: 'GET', path: '/v1/webhooks', summary: 'List webhook endpoints, newest first', tag: 'webhooks', access: 'webhooks:read', query: pageQuery, response: webhooks.webhookPage, status: 200 },
  webhooksCreate: { method: 'POST', path: '/v1/webhooks', summary: 'Add an endpoint; its secret is shown once', tag: 'webhooks', access: 'webhooks:write', body: webhooks.webhookCreate, response: webhooks.webhookCreated, status: 201, idempotent: true, secretFields: ['secret'] },
  webhooksGet: { method: 'GET', path: '/v1/webhooks/{id}', summary: 'Read an endpoint', tag: 'webhooks', access: 'webhooks:read', params: byId, response: webhooks.webhookSchema, status: 200 },
  webhooksPatch: { method: 'PATCH', path: '/v1/webhooks/{id}', summary: 'Change, disable or enable an endpoint', tag: 'webhooks', access: 'webhooks:write', params: byId, body: webhooks.webhookPatch, response: webhooks.webhookChanged, status: 200, ifMatch: true },
  webhooksDelete: { method: 'DELETE', path: '/v1/webhooks/{id}', summary: 'Remove an endpoint; what waits is dropped', tag: 'webhooks', access: 'webhooks:write', params: byId, response: webhooks.webhookChanged, status: 200, ifMatch: true },
  webhooksRotate: { method: 'POST', path: '/v1/webhooks/{id}/rotate', summary: 'Make a new secret, shown once; the former signs for 24 h more', tag: 'webhooks', access: 'webhooks:write', params: byId, response: webhooks.webhookCreated, status: 200, idempotent: true, secretFields: ['secret'] },
  webhookDeliveriesList: { method: 'GET', path: '/v1/webhooks/{id}/deliveries', summary: 'What was sent, newest first', tag: 'webhooks', access: 'webhooks:read', params: byId, query: webhooks.deliveryQuery, response: webhooks.deliveryPage, status: 200 },
  webhookRedeliver: { method: 'POST', path: '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', summary: 'Send a delivery again', tag: 'webhooks', access: 'webhooks:write', params: webhooks.byWebhookAndDelivery, response: webhooks.deliveryChanged, status: 200, idempotent: true },
} as const satisfies Record<string, RouteContract>;
