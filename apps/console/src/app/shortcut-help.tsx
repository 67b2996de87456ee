import { Fragment, type ReactNode } from 'react';
import { Kbd, Modal } from '@mantine/core';
import { ALL_DESTINATIONS } from './navigation';
import classes from './shell.module.css';

const SHORTCUTS: readonly (readonly [readonly string[], string])[] = [
  [['Ctrl', 'K'], 'Search tenants and tiers, run an action'],
  [['/'], 'Search the tenant list'],
  ...ALL_DESTINATIONS.map(({ key, label }) => [['g', key], label] as const),
  [['Ctrl', 'Enter'], 'Apply, in a review'],
  [['?'], 'This list'],
];

export function ShortcutHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <dl className={classes.shortcuts}>
        {SHORTCUTS.map(([keys, words]) => (
          <Fragment key={words}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </Fragment>
        ))}
      </dl>
    </Modal>
  );
}
