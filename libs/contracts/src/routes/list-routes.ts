import * as lists from '../resources/lists';
import type { RouteContract } from '../route';
import { byId } from './params';

/** Who is let through, kept out or held back, whatever their limits say. */
export const listRoutes = {
  listsList: { method: 'GET', path: '/v1/lists', summary: 'List allow and deny entries, newest first', tag: 'lists', access: 'lists:read', query: lists.listEntryQuery, response: lists.listEntryPage, status: 200 },
  listsCreate: { method: 'POST', path: '/v1/lists', summary: 'Allow or deny a subject', tag: 'lists', access: 'lists:write', body: lists.listEntryCreate, response: lists.listEntryChanged, status: 201, idempotent: true },
  listsGet: { method: 'GET', path: '/v1/lists/{id}', summary: 'Read an allow or deny entry', tag: 'lists', access: 'lists:read', params: byId, response: lists.listEntrySchema, status: 200 },
  listsDelete: { method: 'DELETE', path: '/v1/lists/{id}', summary: 'Lift an allow or deny entry now', tag: 'lists', access: 'lists:write', params: byId, query: lists.liftQuery, response: lists.listEntryChanged, status: 200, ifMatch: true },

  penaltiesList: { method: 'GET', path: '/v1/penalties', summary: 'List penalties: automatic ones that run, newest first, then those set by hand, newest first', tag: 'penalties', access: 'penalties:read', query: lists.penaltyQuery, response: lists.subjectPenaltyPage, status: 200, tenantParam: 'tenant' },
  penaltiesCreate: { method: 'POST', path: '/v1/penalties', summary: 'Penalise a subject until an instant', tag: 'penalties', access: 'penalties:write', body: lists.penaltyCreate, response: lists.subjectPenaltyChanged, status: 201, idempotent: true, tenantParam: 'tenant' },
  penaltiesGet: { method: 'GET', path: '/v1/penalties/{id}', summary: 'Read a penalty', tag: 'penalties', access: 'penalties:read', params: lists.byPenaltyId, response: lists.subjectPenaltySchema, status: 200 },
  penaltiesDelete: { method: 'DELETE', path: '/v1/penalties/{id}', summary: 'Lift a penalty now', tag: 'penalties', access: 'penalties:write', params: lists.byPenaltyId, query: lists.liftQuery, response: lists.subjectPenaltyChanged, status: 200, ifMatch: true },
} as const satisfies Record<string, RouteContract>;
