import type { ReactNode } from 'react';
import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { ProblemNotice } from './notices';
import classes from './layout.module.css';

interface LoadedProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  readonly heightPx?: number;
  readonly children: (answer: T) => ReactNode;
}

/** The answer once it is there; before that its shape, and a failure with its reason. What was read before a failure stays. */
export function Loaded<T>({ query, heightPx = 120, children }: LoadedProps<T>): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return (
      <div className={classes.panelBody}>
        <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  return (
    <div className={classes.panelBody} aria-busy="true">
      <Skeleton height={heightPx} radius="md" />
    </div>
  );
}
