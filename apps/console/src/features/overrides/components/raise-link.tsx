import type { ReactNode } from 'react';
import { IconTrendingUp } from '@tabler/icons-react';
import { ButtonLink } from '../../../components/links';
import { useCan } from '../../session/api/session.queries';

interface RaiseLinkProps {
  readonly tenant: string;
  /** Small, for a row of a table. */
  readonly isCompact?: boolean;
}

/** Opens the raise dialog over the page that is shown; hidden from those who may not raise. */
export function RaiseLink({ tenant, isCompact = false }: RaiseLinkProps): ReactNode {
  const mayRaise = useCan('overrides:write');
  if (!mayRaise) return null;
  return (
    <ButtonLink
      to="."
      search={(before) => ({ ...before, raise: tenant })}
      resetScroll={false}
      variant={isCompact ? 'default' : 'filled'}
      size={isCompact ? 'compact-sm' : 'sm'}
      leftSection={<IconTrendingUp size={isCompact ? 14 : 16} />}
      aria-label={isCompact ? `Raise a limit of ${tenant}` : undefined}
    >
      {isCompact ? 'Raise' : 'Raise a limit'}
    </ButtonLink>
  );
}
