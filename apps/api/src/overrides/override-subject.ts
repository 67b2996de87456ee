import { countedAddress, DomainError, subjectField, type OverrideSubject } from '@quotaplane/contracts';
import type { Tx } from '../database/prisma.service';
import type { Prisma } from '../database/rows';
import { invalidField } from '../tenants/tenant-rules';

/**
 * The subject in the form that guards count it by: an IPv6 address as its /64, IPv4-mapped IPv6 as IPv4, a key's id in small letters.
 * @throws {DomainError} invalid at /subject/id for a range of IPv4 addresses, which is many subjects
 */
export function countedSubject(subject: OverrideSubject): OverrideSubject {
  if (subject.scope === 'key') return { scope: 'key', id: subject.id.toLowerCase() };
  if (subject.scope !== 'ip') return subject;
  const id = countedAddress(subject.id);
  if (id === undefined) throw invalidField('/subject/id', 'must be one address, or an IPv6 prefix that is counted as one');
  return { scope: 'ip', id };
}

/** Column `subject_field`, and field of the tenant's hash in Redis; empty for the whole tenant. */
export const fieldOfSubject = (subject: OverrideSubject): string => (subject.scope === 'tenant' ? '' : subjectField(subject.scope, subject.id));

/** The column's values that `?subject=` asks for; an address in any spelling finds the form it is kept in. */
export function whereSubject(filter: string): Prisma.OverrideWhereInput {
  if (filter === 'single') return { subjectField: { not: '' } };
  return { subjectField: filter === 'tenant' ? '' : fieldOfFilter(filter) };
}

function fieldOfFilter(filter: string): string {
  const [scope, id] = [filter.slice(0, filter.indexOf(':')), filter.slice(filter.indexOf(':') + 1)];
  if (scope === 'key') return subjectField('key', id.toLowerCase());
  return scope === 'ip' ? subjectField('ip', countedAddress(id) ?? id) : filter;
}

/** @throws {DomainError} not_found at /subject/id for a key that is missing or another tenant's, in the same words; invalid for a revoked one */
export async function requireOwnKey(tx: Tx, tenantId: string, subject: OverrideSubject): Promise<void> {
  if (subject.scope !== 'key') return;
  const key = await tx.apiKey.findFirst({ where: { id: subject.id, tenantId }, select: { revokedAt: true } });
  if (!key) throw new DomainError('not_found', 'There is no such key', { errors: [{ pointer: '/subject/id', detail: 'is not a key of this tenant' }] });
  if (key.revokedAt !== null) throw invalidField('/subject/id', 'is a revoked key');
}
