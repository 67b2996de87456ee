import type { ReactNode } from 'react';
import { ActionIcon, Kbd, Menu, Tooltip, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSearch, IconSun } from '@tabler/icons-react';
import { Logo } from '../components/logo';
import { sessionQuery } from '../features/session/api/session.queries';
import { useSignOut } from '../features/session/api/sign-out';
import { palette } from './command-palette';
import { DESTINATIONS } from './navigation';
import classes from './shell.module.css';

export function Sidebar({ onHelp }: { readonly onHelp: () => void }): ReactNode {
  const { data: session } = useQuery(sessionQuery);
  return (
    <aside className={classes.sidebar} aria-label="Sidebar">
      <Link to="/" className={classes.brand}>
        <Logo size={26} />
        Quotaplane
      </Link>
      <UnstyledButton className={classes.search} onClick={palette.open} aria-label="Search or run a command">
        <IconSearch size={15} aria-hidden />
        <span>Search…</span>
        <Kbd size="xs" aria-hidden>
          Ctrl K
        </Kbd>
      </UnstyledButton>
      <nav className={classes.nav} aria-label="Pages">
        {DESTINATIONS.map(([group, items]) => (
          <div key={group} className={classes.group}>
            <span className={classes.groupName}>{group}</span>
            {items
              .filter(({ right }) => right === undefined || session?.rights.includes(right))
              .map(({ to, label, icon: Icon, key }) => (
                <Link
                  key={to}
                  to={to}
                  className={classes.link}
                  activeProps={{ 'data-active': true }}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                >
                  <Icon size={17} stroke={1.7} aria-hidden />
                  <span>{label}</span>
                  <span className={classes.hint} aria-hidden>
                    g {key}
                  </span>
                </Link>
              ))}
          </div>
        ))}
      </nav>
      <div className={classes.bottom}>
        <OperatorMenu />
        <Tooltip label="Keyboard shortcuts (?)">
          <ActionIcon variant="subtle" color="gray" aria-label="Keyboard shortcuts" onClick={onHelp}>
            <IconKeyboard size={17} />
          </ActionIcon>
        </Tooltip>
        <SchemeToggle />
      </div>
    </aside>
  );
}

function SchemeToggle(): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <Tooltip label={isDark ? 'Light' : 'Dark'}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isDark ? 'Use light colours' : 'Use dark colours'}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}

function OperatorMenu(): ReactNode {
  const { data: session } = useQuery(sessionQuery);
  const { setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const signOut = useSignOut(() => void navigate({ to: '/sign-in' }));
  if (!session) return null;
  return (
    <Menu position="top-start" width={210}>
      <Menu.Target>
        <UnstyledButton className={classes.operator} aria-label={`Signed in as ${session.name}`}>
          <span className={classes.avatar} aria-hidden>
            {initials(session.name)}
          </span>
          <span className={classes.who}>
            <span>{session.name}</span>
            <span className={classes.role}>{session.role ?? session.kind}</span>
          </span>
        </UnstyledButton>
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

const initials = (name: string): string =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((part) => part.charAt(0).toUpperCase())
    .join('');
