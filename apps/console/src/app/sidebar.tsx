import type { ReactNode } from 'react';
import { ActionIcon, Kbd, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconKeyboard, IconMoon, IconSearch, IconSun } from '@tabler/icons-react';
import { Logo } from '../components/logo';
import { Tooltip } from '../components/tooltip';
import { sessionQuery } from '../features/session/api/session.queries';
import { DESTINATIONS } from './navigation';
import { Operator } from './operator';
import classes from './shell.module.css';

interface SidebarProps {
  readonly isSettled: boolean;
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

export function Sidebar({ isSettled, onHelp, onPalette }: SidebarProps): ReactNode {
  const { data: session } = useQuery(sessionQuery);
  return (
    <aside className={classes.sidebar} aria-label="Sidebar">
      <Link to="/" className={classes.brand}>
        <Logo size={26} />
        Quotaplane
      </Link>
      <UnstyledButton className={classes.search} onClick={onPalette} aria-label="Search or run a command">
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
        <Operator isSettled={isSettled} />
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
