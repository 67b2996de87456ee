import { lazy, Suspense, useCallback, useState, type ReactNode } from 'react';
import { Outlet } from '@tanstack/react-router';
import { withStyles } from '../styles/with-styles';
import { Dialogs } from './dialogs';
import { palette } from './palette';
import { Sidebar } from './sidebar';
import { useSettled } from './use-settled';
import { useShortcuts } from './use-shortcuts';
import classes from './shell.module.css';

const ShellExtras = lazy(async () => ({ default: (await withStyles(() => import('./shell-extras'))).ShellExtras }));

/** Navigation, palette, shortcuts and dialogs around the page. */
export function Shell(): ReactNode {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isWanted, setWanted] = useState(false);
  const isSettled = useSettled();
  const openHelp = useCallback(() => setHelpOpen(true), []);
  const openPalette = useCallback(() => {
    setWanted(true);
    palette.open();
  }, []);
  useShortcuts({ onHelp: openHelp, onPalette: openPalette });
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip}>
        Skip to the content
      </a>
      <Sidebar isSettled={isSettled} onHelp={openHelp} onPalette={openPalette} />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Dialogs />
      {isSettled || isWanted || isHelpOpen ? (
        <Suspense fallback={null}>
          <ShellExtras isHelpOpen={isHelpOpen} onHelpClose={() => setHelpOpen(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}
