import type { AuditEntry } from '@quotaplane/contracts';

/** `override.create` to `Override created`; an action without a known verb is shown as it is. */
export function describeAction({ action }: Pick<AuditEntry, 'action'>): string {
  const [subject = action, verb] = action.split(/[.:]/);
  const past = verb === undefined ? undefined : PAST[verb];
  const words = subject.replaceAll(/[-_]/g, ' ');
  return past === undefined ? action : `${words.charAt(0).toUpperCase()}${words.slice(1)} ${past}`;
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
};
