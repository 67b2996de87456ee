import type { ReactNode } from 'react';
import { IconChevronRight } from '@tabler/icons-react';
import classes from './disclosure.module.css';

interface DisclosureProps {
  readonly label: string;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** What only some will want to see, one click away. */
export function Disclosure({ label, isOpen = false, children }: DisclosureProps): ReactNode {
  return (
    <details className={classes.details} open={isOpen || undefined}>
      <summary className={classes.summary}>
        <IconChevronRight size={14} stroke={2} aria-hidden />
        {label}
      </summary>
      <div className={classes.body}>{children}</div>
    </details>
  );
}
