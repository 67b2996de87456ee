import type { ReactNode } from 'react';
import type { Override } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';

const WORDS = { key: 'key', user: 'user', ip: 'address' } as const;

/** `acme`, or `user ann of acme`. */
export function subjectWords({ tenant, subject = { scope: 'tenant' } }: { readonly tenant: string; readonly subject?: Override['subject'] }): string {
  return subject.scope === 'tenant' ? tenant : `${WORDS[subject.scope]} ${subject.id} of ${tenant}`;
}

/** Whom an override is for, where the tenant stands beside it already. */
export function SubjectLabel({ subject }: Pick<Override, 'subject'>): ReactNode {
  if (subject.scope === 'tenant') return 'everyone of it';
  return (
    <span title={subject.id}>
      <Badge>{WORDS[subject.scope]}</Badge> <code>{subject.id.length > 28 ? `${subject.id.slice(0, 26)}…` : subject.id}</code>
    </span>
  );
}
