import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { Button, Kbd } from '@mantine/core';
import { ProblemNotice } from './notices';
import layout from './layout.module.css';
import classes from './review.module.css';

interface ReviewProps {
  /** What will be so, as the heading. */
  readonly title: string;
  /** The verb of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly onBack: () => void;
  readonly onApply: () => void;
  readonly children: ReactNode;
}

/** The step after a form: what will be so, in full. Enter does not apply it, for a finger may still rest on it from the form. */
export function Review({ title, action, isDangerous = false, isSaving, problem, onBack, onApply, children }: ReviewProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    const isOnBack = event.target instanceof HTMLElement && event.target.dataset['step'] === 'back';
    if (isOnBack) return;
    event.preventDefault();
    if ((event.ctrlKey || event.metaKey) && !event.repeat && !isSaving) onApply();
  };
  return (
    <div className={classes.form} onKeyDown={onKeyDown}>
      <h3 ref={heading} tabIndex={-1} className={classes.title} data-autofocus>
        {title}
      </h3>
      {children}
      {problem ? <ProblemNotice error={problem} /> : null}
      <div className={classes.foot}>
        <Button variant="default" onClick={onBack} disabled={isSaving} data-step="back">
          Back
        </Button>
        <span className={layout.spring} />
        <span className={classes.hint}>
          <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd> applies
        </span>
        <Button color={isDangerous ? 'red' : undefined} onClick={onApply} loading={isSaving}>
          {action}
        </Button>
      </div>
    </div>
  );
}
