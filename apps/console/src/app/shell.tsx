import { useState, type ReactNode } from 'react';
import { Outlet } from '@tanstack/react-router';
import { CommandPalette } from './command-palette';
import { Dialogs } from './dialogs';
import { ShortcutHelp } from './shortcut-help';
import { Sidebar } from './sidebar';
import { useShortcuts } from './use-shortcuts';
import classes from './shell.module.css';

/** Navigation, palette, shortcuts and dialogs around the page. */
export function Shell(): ReactNode {
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
      <Dialogs />
      <CommandPalette />
      <ShortcutHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}
