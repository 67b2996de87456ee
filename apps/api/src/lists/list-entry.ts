import { DomainError, LISTS_MAX, RESERVED_TENANTS, type ListedSubject, type ListEntryState, type ListKind, type ShownSubject } from '@quotaplane/contracts';
import { PLATFORM_CHAIN } from '../audit/changes.service';
import { countOpenEntries } from '../database/list-sql';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { ListEntryRow, Prisma } from '../database/rows';
import { notFound, unknownTenant } from '../http/caller';
import { versionConflict } from '../http/version-conflict';
import { spanErrors } from '../overrides/override-rules';
import { invalidField, invalidFields } from '../tenants/tenant-rules';

export interface NewEntry {
  readonly list: ListKind;
  readonly tenant: string | null;
  readonly subject: ListedSubject;
  readonly reason: string;
  readonly ticket?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** Chain of an entry's changes: its tenant's, where it is about one. */
export const chainOf = (tenant: string | null): string => tenant ?? PLATFORM_CHAIN;

/** By the clock alone; `lifted` by hand. `until` is exclusive. */
export function entryStateAt({ from, until, endedAt }: Pick<ListEntryRow, 'from' | 'until' | 'endedAt'>, now: Date): ListEntryState {
  if (endedAt !== null) return 'lifted';
  if (until !== null && until <= now) return 'ended';
  return from > now ? 'scheduled' : 'active';
}

/** The same as {@link entryStateAt}, for Postgres. */
export function whereState(state: ListEntryState, now: Date): Prisma.ListEntryWhereInput {
  if (state === 'lifted') return { endedAt: { not: null } };
  if (state === 'ended') return { endedAt: null, until: { lte: now } };
  const isOpen = { endedAt: null, OR: [{ until: null }, { until: { gt: now } }] };
  return { ...isOpen, from: state === 'scheduled' ? { gt: now } : { lte: now } };
}

export const subjectOf = ({ scope, subject }: Pick<ListEntryRow, 'scope' | 'subject'>): ShownSubject =>
  (scope === 'tenant' ? { scope } : { scope: scope as ShownSubject['scope'], id: subject });

/** @throws {DomainError} not_found at /tenant */
export async function requireListedTenant(prisma: PrismaService, tenant: string | null): Promise<void> {
  if (tenant !== null && !(await prisma.tenant.findFirst({ where: { slug: tenant, deletedAt: null }, select: { id: true } }))) throw unknownTenant('/tenant');
}

/** @throws {DomainError} invalid, not_found for a key that is not the tenant's, conflict when the lists are full */
export async function insertEntry(tx: Tx, entry: NewEntry, { at, by }: { readonly at: Date; readonly by: string }): Promise<ListEntryRow> {
  const { list, tenant, subject, reason } = entry;
  const span = { from: entry.from === undefined ? at : new Date(entry.from), until: entry.until === undefined ? null : new Date(entry.until) };
  const errors = spanErrors(span, at);
  if (errors.length > 0) throw invalidFields(errors);
  if (subject.scope === 'tenant' && list !== 'allow' && RESERVED_TENANTS.some((reserved) => reserved === tenant)) {
    throw invalidField('/tenant', 'is the platform\'s own and cannot be shut out as a whole');
  }
  const id = subject.scope === 'tenant' ? '' : subject.scope === 'key' ? subject.id.toLowerCase() : subject.id;
  if (subject.scope === 'key') await requireKey(tx, id, tenant);
  if ((await countOpenEntries(tx, at)) >= LISTS_MAX) {
    throw new DomainError('conflict', `The lists hold ${LISTS_MAX} entries that run or are to come, which is all that guards take; lift some, or name a range of addresses`);
  }
  return tx.listEntry.create({ data: { list, tenant, scope: subject.scope, subject: id, reason, ticket: entry.ticket ?? null, ...span, createdAt: at, createdBy: by } });
}

/** Ends an entry now. @throws {DomainError} version_conflict, conflict for one that is over */
export async function endEntry(tx: Tx, row: ListEntryRow, { at, by, ifVersion }: { readonly at: Date; readonly by: string; readonly ifVersion: number }): Promise<ListEntryRow> {
  if (row.version !== ifVersion) throw versionConflict(ifVersion, row.version);
  const state = entryStateAt(row, at);
  if (state === 'ended' || state === 'lifted') throw new DomainError('conflict', `It is ${state} already`);
  const { count } = await tx.listEntry.updateMany({ where: { id: row.id, version: ifVersion }, data: { endedAt: at, endedBy: by, version: { increment: 1 } } });
  if (count === 0) throw versionConflict(ifVersion, row.version + 1);
  return requireEntry(tx, row.id, [row.list]);
}

/** @throws {DomainError} not_found, also for an entry of another list */
export async function requireEntry(db: PrismaService | Tx, id: string, lists: readonly string[]): Promise<ListEntryRow> {
  const row = await db.listEntry.findUnique({ where: { id } });
  if (!row || !lists.includes(row.list)) throw notFound();
  return row;
}

async function requireKey(tx: Tx, id: string, tenant: string | null): Promise<void> {
  const key = await tx.apiKey.findFirst({ where: { id, ...(tenant === null ? {} : { tenant: { slug: tenant } }) }, select: { id: true } });
  if (key) return;
  const detail = tenant === null ? 'is not a key' : 'is not a key of this tenant';
  throw new DomainError('not_found', 'There is no such key', { errors: [{ pointer: '/subject/id', detail }] });
}
