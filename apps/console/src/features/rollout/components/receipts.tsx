import { useState, type ReactNode } from 'react';
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconAlertTriangle, IconCircleCheck, IconPlugConnectedX } from '@tabler/icons-react';
import type { ChangeReceipts } from '@quotaplane/contracts';
import { formatSpan } from '../../../format/time';
import { changeQuery, isLive } from '../api/rollout.queries';
import classes from './receipts.module.css';

/** Which nodes enforce a change, as their receipts come in: "Live on 2 of 2 nodes after 184 ms". */
export function Receipts({ changeId }: { readonly changeId: string }): ReactNode {
  const [startedAtMs] = useState(() => Date.now());
  const { data } = useQuery(changeQuery(changeId, startedAtMs));
  return (
    <div className={classes.receipts} role="status" aria-live="polite">
      {data ? <State receipts={data} /> : <Waiting>Saved. Waiting for the nodes…</Waiting>}
    </div>
  );
}

function State({ receipts }: { readonly receipts: ChangeReceipts }): ReactNode {
  const { nodes, tookMs, state } = receipts;
  if (state === 'queued') return <Waiting>Saved. Being published…</Waiting>;
  if (nodes.total === 0) return <Line icon={<IconPlugConnectedX size={18} aria-hidden />}>No guard runs now; each takes it up when it starts.</Line>;
  if (isLive(receipts)) {
    return (
      <Line icon={<IconCircleCheck size={18} className={classes.good} aria-hidden />}>
        Live on {nodes.live} of {nodes.total} {nodes.total === 1 ? 'node' : 'nodes'}
        {tookMs === null ? '' : ` after ${formatTook(tookMs)}`}
      </Line>
    );
  }
  return (
    <>
      <Line icon={<IconAlertTriangle size={18} className={classes.warn} aria-hidden />}>
        Live on {nodes.live} of {nodes.total} nodes so far
      </Line>
      {nodes.lagging.length === 0 ? null : <p className={classes.lagging}>Lagging: {nodes.lagging.join(', ')}</p>}
    </>
  );
}

/** `184 ms`, `1.4 s`, then minutes. */
export function formatTook(tookMs: number): string {
  if (tookMs < 1000) return `${tookMs} ms`;
  return tookMs < 60_000 ? `${(tookMs / 1000).toFixed(1)} s` : formatSpan(tookMs);
}

function Waiting({ children }: { readonly children: ReactNode }): ReactNode {
  return <Line icon={<Loader size={16} />}>{children}</Line>;
}

function Line({ icon, children }: { readonly icon: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <div className={classes.line}>
      {icon}
      <span>{children}</span>
    </div>
  );
}
