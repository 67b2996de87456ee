import { tierContentSchema } from '../limits';
import * as classes from '../resources/endpoint-classes';
import { pageQuery } from '../resources/page';
import * as tiers from '../resources/tiers';
import type { RouteContract } from '../route';
import { bySlug } from './params';

/** Tiers, their versions, and endpoint classes: what everyone is judged by. */
export const planRoutes = {
  tiersList: { method: 'GET', path: '/v1/tiers', summary: 'List tiers', tag: 'tiers', access: 'tiers:read', query: pageQuery, response: tiers.tierPage, status: 200 },
  tiersCreate: { method: 'POST', path: '/v1/tiers', summary: 'Create a tier', tag: 'tiers', access: 'tiers:write', body: tiers.tierCreate, response: tiers.tierChanged, status: 201, idempotent: true },
  tiersGet: { method: 'GET', path: '/v1/tiers/{slug}', summary: 'Read a tier', tag: 'tiers', access: 'tiers:read', params: bySlug, response: tiers.tierSchema, status: 200 },
  tiersPatch: { method: 'PATCH', path: '/v1/tiers/{slug}', summary: 'Rename or weigh a tier', tag: 'tiers', access: 'tiers:write', params: bySlug, body: tiers.tierPatch, response: tiers.tierChanged, status: 200, ifMatch: true },
  tiersArchive: { method: 'POST', path: '/v1/tiers/{slug}/archive', summary: 'Archive a tier that no tenant uses', tag: 'tiers', access: 'tiers:write', params: bySlug, response: tiers.tierChanged, status: 200, idempotent: true },
  tierDraftGet: { method: 'GET', path: '/v1/tiers/{slug}/draft', summary: 'Read the draft', tag: 'tiers', access: 'tiers:read', params: bySlug, response: tiers.tierDraft, status: 200 },
  tierDraftPut: { method: 'PUT', path: '/v1/tiers/{slug}/draft', summary: 'Replace the draft', tag: 'tiers', access: 'tiers:write', params: bySlug, body: tierContentSchema, response: tiers.tierDraftChanged, status: 200, ifMatch: true },
  tierDraftDelete: { method: 'DELETE', path: '/v1/tiers/{slug}/draft', summary: 'Empty the draft', tag: 'tiers', access: 'tiers:write', params: bySlug, response: tiers.tierDraftChanged, status: 200, ifMatch: true },
  tierPublish: { method: 'POST', path: '/v1/tiers/{slug}/publish', summary: 'Publish the draft as the next version', tag: 'tiers', access: 'tiers:write', params: bySlug, body: tiers.tierPublish, response: tiers.tierVersionChanged, status: 201, idempotent: true },
  tierVersionsList: { method: 'GET', path: '/v1/tiers/{slug}/versions', summary: 'List published versions, newest first', tag: 'tiers', access: 'tiers:read', params: bySlug, query: pageQuery, response: tiers.tierVersionPage, status: 200 },

  classesList: { method: 'GET', path: '/v1/endpoint-classes', summary: 'List endpoint classes', tag: 'endpoint classes', access: 'classes:read', query: pageQuery, response: classes.endpointClassPage, status: 200 },
  classesCreate: { method: 'POST', path: '/v1/endpoint-classes', summary: 'Create an endpoint class', tag: 'endpoint classes', access: 'classes:write', body: classes.endpointClassCreate, response: classes.endpointClassChanged, status: 201, idempotent: true },
  classesGet: { method: 'GET', path: '/v1/endpoint-classes/{slug}', summary: 'Read an endpoint class', tag: 'endpoint classes', access: 'classes:read', params: bySlug, response: classes.endpointClassSchema, status: 200 },
  classesPatch: { method: 'PATCH', path: '/v1/endpoint-classes/{slug}', summary: 'Change an endpoint class', tag: 'endpoint classes', access: 'classes:write', params: bySlug, body: classes.endpointClassPatch, response: classes.endpointClassChanged, status: 200, ifMatch: true },
  classesDelete: { method: 'DELETE', path: '/v1/endpoint-classes/{slug}', summary: 'Delete an endpoint class that no limit names', tag: 'endpoint classes', access: 'classes:write', params: bySlug, response: classes.endpointClassChanged, status: 200, ifMatch: true },
} as const satisfies Record<string, RouteContract>;
