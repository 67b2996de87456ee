import type { ComponentType, ReactNode } from 'react';
import type { IconProps } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import classes from './tile.module.css';

interface TileProps extends React.ComponentPropsWithRef<'a'> {
  readonly icon: ComponentType<IconProps>;
  readonly name: string;
  readonly value: ReactNode;
  readonly note: ReactNode;
  /** Needs a look: the note says why. */
  readonly isWarning?: boolean;
}

function TileAnchor({ icon: Icon, name, value, note, isWarning = false, ...anchor }: TileProps): ReactNode {
  return (
    <a {...anchor} className={classes.tile} data-warn={isWarning || undefined}>
      <span className={classes.name}>
        <Icon size={16} stroke={1.8} aria-hidden />
        {name}
      </span>
      <span className={classes.value}>{value}</span>
      <span className={classes.note}>{note}</span>
    </a>
  );
}

/** One figure of the overview; leads to the page behind it. */
export const Tile = createLink(TileAnchor);
