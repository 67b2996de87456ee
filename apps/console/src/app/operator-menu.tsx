import type { ReactNode } from 'react';
import { Menu, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { IconDeviceDesktop, IconLogout } from '@tabler/icons-react';
import type { WhoAmI } from '@quotaplane/contracts';
import { useSignOut } from '../features/session/api/sign-out';
import { OperatorButton } from './operator-button';

interface OperatorMenuProps {
  readonly session: WhoAmI;
  /** The button that stood here before was pressed. */
  readonly startsOpen: boolean;
  /** The button that stood here before had the focus. */
  readonly takesFocus: boolean;
}

export function OperatorMenu({ session, startsOpen, takesFocus }: OperatorMenuProps): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const signOut = useSignOut(() => void navigate({ to: '/sign-in' }));
  return (
    <Menu position="top-start" width={210} defaultOpened={startsOpen}>
      <Menu.Target>
        <OperatorButton session={session} autoFocus={takesFocus} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconDeviceDesktop size={15} />} onClick={() => setColorScheme('auto')}>
          Colours of the system
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
