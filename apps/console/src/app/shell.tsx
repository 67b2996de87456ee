import { useState, type ReactNode } from 'react';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { EntryDialog } from '../features/lists/components/entry-dialog';
import { RaiseDialog } from '../features/overrides/components/raise-dialog';
import { GrantDialog } from '../features/top-ups/components/grant-dialog';
import { CommandPalette } from './command-palette';
import { ShortcutHelp } from './shortcut-help';
import { Sidebar } from './sidebar';
import { useShortcuts } from './use-shortcuts';
import classes from './shell.module.css';

const route = getRouteApi('/console');

/** Navigation, palette and shortcuts around the page; the dialogs to raise, grant and penalise are open wherever the URL says so. */
export function Shell(): ReactNode {
  const { raise, grant, penalise } = route.useSearch();
  const navigate = useNavigate();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcuts({ onHelp: () => setHelpOpen(true) });
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip}>
        Skip to the content
      </a>
      <Sidebar onHelp={() => setHelpOpen(true)} />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <RaiseDialog
        tenant={raise}
        onClose={() => void navigate({ to: '.', search: (before) => ({ ...before, raise: undefined }), resetScroll: false })}
      />
      <GrantDialog
        tenant={grant}
        onClose={() => void navigate({ to: '.', search: (before) => ({ ...before, grant: undefined }), resetScroll: false })}
      />
      <EntryDialog
        start={penalise && { ...penalise, list: 'penalty' }}
        lists={['penalty']}
        onClose={() => void navigate({ to: '.', search: (before) => ({ ...before, penalise: undefined }), resetScroll: false })}
      />
      <CommandPalette />
      <ShortcutHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}
