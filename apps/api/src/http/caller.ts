import { DomainError, RIGHTS, type Actor, type OperatorRole, type Right } from '@quotaplane/contracts';

/** Who is asking, as every service gets it first: an operator, a token or the system itself. */
export interface Caller extends Actor {
  readonly rights: ReadonlySet<Right>;
  /** The one tenant this caller may see; null sees all. */
  readonly boundTenant: string | null;
  readonly role: OperatorRole | null;
  readonly email: string | null;
  /** Set for a console session. */
  readonly session: { readonly idHash: string; readonly idleExpiresAt: Date; readonly expiresAt: Date } | null;
}

/** Acts at start and in jobs: seeds, bootstrap, sweeps. */
export const SYSTEM_CALLER: Caller = {
  kind: 'system', id: 'system', name: 'system',
  rights: new Set(RIGHTS), boundTenant: null, role: null, email: null, session: null,
};

/** Of a Caller only who it is, as kept in the audit log and `createdBy`. */
export const actorOf = ({ kind, id, name }: Actor): Actor => ({ kind, id, name });

/** The 404 of a missing resource and, word for word, of one that the caller may not see. */
export function notFound(): DomainError {
  return new DomainError('not_found', 'There is no such resource');
}

/** The 404 of a tenant that a body or a query names: `pointer` says where, for the path of such a request is right. */
export function unknownTenant(pointer: string): DomainError {
  return new DomainError('not_found', 'There is no such tenant', { errors: [{ pointer, detail: 'is not a tenant' }] });
}

/**
 * Refuses a resource of a tenant the caller is not bound to. For routes that find the tenant only by reading a row;
 * where the path, query or body names it, the access guard has done this already.
 * @throws {DomainError} not_found
 */
export function requireVisible(caller: Caller, tenant: string): void {
  if (caller.boundTenant !== null && caller.boundTenant !== tenant) throw notFound();
}
