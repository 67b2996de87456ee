import type { ReactNode } from 'react';
import type { ShownSubject } from '@quotaplane/contracts';
import { IconBan } from '@tabler/icons-react';
import { ButtonLink } from '../../../components/links';
import { useCan } from '../../session/api/session.queries';

interface PenaliseLinkProps {
  readonly tenant: string;
  readonly subject: ShownSubject;
}

/** Opens the form to penalise a subject over the page that is shown; hidden where that cannot be done. */
export function PenaliseLink({ tenant, subject }: PenaliseLinkProps): ReactNode {
  const mayPenalise = useCan('penalties:write');
  const { scope, id = '' } = subject;
  if (!mayPenalise || !(scope === 'tenant' || scope === 'key' || scope === 'user' || scope === 'ip')) return null;
  return (
    <ButtonLink
      to="."
      search={(before) => ({ ...before, penalise: { tenant, scope, id: scope === 'tenant' ? '' : id } })}
      resetScroll={false}
      variant="default"
      size="compact-sm"
      leftSection={<IconBan size={14} />}
      aria-label={`Penalise ${scope} ${id} of ${tenant}`}
    >
      Penalise
    </ButtonLink>
  );
}
