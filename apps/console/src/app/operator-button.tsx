import type { ComponentPropsWithRef, ReactNode } from 'react';
import { UnstyledButton } from '@mantine/core';
import type { WhoAmI } from '@quotaplane/contracts';
import classes from './shell.module.css';

interface OperatorButtonProps extends Omit<ComponentPropsWithRef<'button'>, 'children'> {
  readonly session: WhoAmI;
}

/** Who is signed in; opens the operator's menu. */
export function OperatorButton({ session, className = '', ...rest }: OperatorButtonProps): ReactNode {
  return (
    <UnstyledButton className={`${classes.operator} ${className}`} aria-label={`Signed in as ${session.name}`} aria-haspopup="menu" {...rest}>
      <span className={classes.avatar} aria-hidden>
        {initials(session.name)}
      </span>
      <span className={classes.who}>
        <span>{session.name}</span>
        <span className={classes.role}>{session.role ?? session.kind}</span>
      </span>
    </UnstyledButton>
  );
}

const initials = (name: string): string =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((part) => part.charAt(0).toUpperCase())
    .join('');
