import type { ReactNode } from 'react';
import { Notifications } from '@mantine/notifications';
import { CommandPalette } from './command-palette';
import { ShortcutHelp } from './shortcut-help';

interface ShellExtrasProps {
  readonly isHelpOpen: boolean;
  readonly onHelpClose: () => void;
}

/** What lies over the page when asked for: loaded once the page stands, so that no first visit waits for it. */
export function ShellExtras({ isHelpOpen, onHelpClose }: ShellExtrasProps): ReactNode {
  return (
    <>
      <Notifications position="bottom-right" />
      <CommandPalette />
      <ShortcutHelp isOpen={isHelpOpen} onClose={onHelpClose} />
    </>
  );
}
