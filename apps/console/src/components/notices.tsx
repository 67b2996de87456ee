import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconAlertCircle, IconClockExclamation, IconInfoCircle, IconMoodEmpty } from '@tabler/icons-react';
import { ApiProblem, nextStep } from '../api/api-problem';
import { formatSpan } from '../format/time';
import { useNow } from './use-now';
import classes from './notices.module.css';

interface ProblemNoticeProps {
  readonly error: unknown;
  /** Replaces the usual next step where the page knows a better one. */
  readonly step?: string;
  readonly onRetry?: () => void;
}

/** What went wrong, why, what to do and the request id to quote. */
export function ProblemNotice({ error, step, onRetry }: ProblemNoticeProps): ReactNode {
  if (error === null || error === undefined) return null;
  const problem =
    error instanceof ApiProblem ? error : new ApiProblem('internal', 'The console met an error of its own.', 0, null, [], null, { cause: error });
  return (
    <div className={classes.notice} role="alert">
      <IconAlertCircle size={18} aria-hidden />
      <div className={classes.text}>
        <strong>{problem.message.replace(/[^.!?]$/, '$&.')}</strong> {step ?? nextStep(problem)}
        {problem.errors.map(({ pointer, detail }) => (
          <div key={`${pointer} ${detail}`}>
            <code>{pointer}</code> {detail}
          </div>
        ))}
        {problem.requestId === null ? null : <div className={classes.id}>Request {problem.requestId}</div>}
      </div>
      {onRetry ? (
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          Try again
        </Button>
      ) : null}
    </div>
  );
}

export function Notice({ tone = 'calm', children }: { readonly tone?: 'warn' | 'calm'; readonly children: ReactNode }): ReactNode {
  return (
    <div className={`${classes.notice} ${classes[tone]}`}>
      {tone === 'warn' ? <IconAlertCircle size={18} aria-hidden /> : <IconInfoCircle size={18} aria-hidden />}
      <div className={classes.text}>{children}</div>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** Why there is nothing. */
  readonly children: ReactNode;
  /** The next step. */
  readonly next?: ReactNode;
  readonly icon?: ReactNode;
}

/** A small panel with nothing in it says so in one line. */
export function EmptyLine({ icon, children }: { readonly icon: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <p className={classes.emptyLine}>
      {icon}
      {children}
    </p>
  );
}

export function Empty({ title, children, next, icon }: EmptyProps): ReactNode {
  return (
    <div className={classes.empty}>
      {icon ?? <IconMoodEmpty size={32} stroke={1.4} aria-hidden />}
      <strong>{title}</strong>
      <p>{children}</p>
      {next === undefined ? null : <div className={classes.next}>{next}</div>}
    </div>
  );
}

/** Marks figures that could not be refreshed: shown only while the last refresh failed. */
export function StaleMark({ error, updatedAtMs }: { readonly error: unknown; readonly updatedAtMs: number }): ReactNode {
  const nowMs = useNow();
  if (!error || updatedAtMs === 0) return null;
  return (
    <span className={classes.stale} role="status">
      <IconClockExclamation size={14} aria-hidden />
      Stale: {formatSpan(nowMs - updatedAtMs)} old
    </span>
  );
}
