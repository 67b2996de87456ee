import type { ReactNode } from 'react';
import { IconGift } from '@tabler/icons-react';
import { ButtonLink } from '../../../components/links';
import { useCan } from '../../session/api/session.queries';

/** Opens the form to grant more over the page that is shown; hidden from those who may not. */
export function GrantLink({ tenant }: { readonly tenant: string }): ReactNode {
  const mayGrant = useCan('topups:write');
  if (!mayGrant) return null;
  return (
    <ButtonLink
      to="."
      search={(before) => ({ ...before, grant: tenant })}
      resetScroll={false}
      variant="default"
      size="compact-sm"
      leftSection={<IconGift size={14} />}
    >
      Grant more this month
    </ButtonLink>
  );
}
