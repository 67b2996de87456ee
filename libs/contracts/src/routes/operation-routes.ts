import * as access from '../resources/access';
import * as ops from '../resources/operations';
import { pageQuery } from '../resources/page';
import { publicLimitsSchema } from '../resources/public-limits';
import type { RouteContract } from '../route';
import { byId } from './params';

/** Watching, proving, and who may do what. */
export const operationRoutes = {
  offendersList: { method: 'GET', path: '/v1/offenders', summary: 'Subjects that were denied most', tag: 'offenders', access: 'offenders:read', query: ops.offenderQuery, response: ops.offenderPage, status: 200 },
  changesGet: { method: 'GET', path: '/v1/changes/{id}', summary: 'Which nodes enforce a change', tag: 'rollout', access: 'nodes:read', params: byId, response: ops.changeReceipts, status: 200 },
  nodesList: { method: 'GET', path: '/v1/nodes', summary: 'Guards alive', tag: 'rollout', access: 'nodes:read', query: pageQuery, response: ops.nodePage, status: 200 },
  auditList: { method: 'GET', path: '/v1/audit', summary: 'Who changed what, when and why', tag: 'audit', access: 'audit:read', query: ops.auditQuery, response: ops.auditPage, status: 200, tenantParam: 'tenant' },
  auditVerify: { method: 'GET', path: '/v1/audit/verify', summary: 'Check every hash chain', tag: 'audit', access: 'audit:read', response: ops.auditVerification, status: 200 },
  settingsGet: { method: 'GET', path: '/v1/settings', summary: 'Read platform settings', tag: 'settings', access: 'settings:read', response: ops.settingsSchema, status: 200 },
  settingsPatch: { method: 'PATCH', path: '/v1/settings', summary: 'Change platform settings', tag: 'settings', access: 'settings:write', body: ops.settingsPatch, response: ops.settingsChanged, status: 200, ifMatch: true },
  limitsJson: { method: 'GET', path: '/limits.json', summary: 'What API consumers may rely on: tiers, costs, quotas, response fields and back-off; the page /limits says the same in words', tag: 'limits', access: 'public', response: publicLimitsSchema, status: 200 },
  events: { method: 'GET', path: '/v1/events', summary: 'Server-sent events: changes, receipts and denials as they happen', tag: 'rollout', access: 'nodes:read', response: 'event-stream', status: 200 },

  signIn: { method: 'POST', path: '/v1/auth/sign-in', summary: 'Sign in to the console', tag: 'access', access: 'public', body: access.signIn, response: access.whoAmI, status: 200 },
  signOut: { method: 'POST', path: '/v1/auth/sign-out', summary: 'End this session', tag: 'access', access: 'signed-in', response: 'empty', status: 204 },
  whoAmI: { method: 'GET', path: '/v1/auth/me', summary: 'Who is asking', tag: 'access', access: 'signed-in', response: access.whoAmI, status: 200 },
  operatorsList: { method: 'GET', path: '/v1/operators', summary: 'List operators', tag: 'access', access: 'operators:read', query: pageQuery, response: access.operatorPage, status: 200 },
  operatorsCreate: { method: 'POST', path: '/v1/operators', summary: 'Add an operator', tag: 'access', access: 'operators:write', body: access.operatorCreate, response: access.operatorChanged, status: 201, idempotent: true },
  operatorsGet: { method: 'GET', path: '/v1/operators/{id}', summary: 'Read an operator', tag: 'access', access: 'operators:read', params: byId, response: access.operatorSchema, status: 200 },
  operatorsPatch: { method: 'PATCH', path: '/v1/operators/{id}', summary: 'Change or disable an operator; ends their sessions', tag: 'access', access: 'operators:write', params: byId, body: access.operatorPatch, response: access.operatorChanged, status: 200, ifMatch: true },
  tokensList: { method: 'GET', path: '/v1/tokens', summary: 'List API tokens', tag: 'access', access: 'tokens:read', query: pageQuery, response: access.tokenPage, status: 200 },
  tokensCreate: { method: 'POST', path: '/v1/tokens', summary: 'Create an API token; the secret is shown once', tag: 'access', access: 'tokens:write', body: access.tokenCreate, response: access.tokenCreated, status: 201, idempotent: true, secretFields: ['secret'] },
  tokensDelete: { method: 'DELETE', path: '/v1/tokens/{id}', summary: 'Revoke an API token', tag: 'access', access: 'tokens:write', params: byId, response: access.tokenChanged, status: 200, ifMatch: true },
} as const satisfies Record<string, RouteContract>;
