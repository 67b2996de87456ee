import type { AuditEntry } from '@quotaplane/contracts';

/** `override.create` to `Override created`; an action without a known verb is shown as it is. */
export function describeAction({ action }: Pick<AuditEntry, 'action'>): string {
  const [subject = action, verb] = action.split(/[.:]/);
  const past = verb === undefined ? undefined : PAST[verb];
  const words = subject.replaceAll(/[-_]/g, ' ');
  return past === undefined ? action : `${words.charAt(0).toUpperCase()}${words.slice(1)} ${past}`;
}

/** What the entry is about, by the name people know it by: operators and tokens have ids that nobody can read. */
export function entityName({ tenant, entity, before, after }: Pick<AuditEntry, 'tenant' | 'entity' | 'before' | 'after'>): string {
  if (tenant !== null) return tenant;
  const { email, name, slug } = { ...membersOf(before), ...membersOf(after) };
  const known = [email, slug, name].find((each) => typeof each === 'string' && each !== '');
  return typeof known === 'string' ? known : entity.id;
}

function membersOf(value: AuditEntry['before']): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

const PAST: Readonly<Record<string, string>> = {
  create: 'created',
  created: 'created',
  update: 'changed',
  updated: 'changed',
  patch: 'changed',
  put: 'changed',
  delete: 'deleted',
  deleted: 'deleted',
  revert: 'reverted',
  reverted: 'reverted',
  publish: 'published',
  published: 'published',
  revoke: 'revoked',
  revoked: 'revoked',
  archive: 'archived',
  archived: 'archived',
  withdraw: 'withdrawn',
  move: 'moved',
  close: 'closed',
  post: 'posted',
  rotate: 'secret rotated',
  redeliver: 'delivery repeated',
  gone: 'gone',
};
