import type { Heartbeat } from '@quotaplane/contracts';
import { liveNodes } from './nodes';
import { compareStreamIds } from './stream-id';

/** Who has dropped everything older than a feed position. Nodes of guarded services count; the platform's own are listed elsewhere only. */
export interface Receipts {
  /** Live nodes that have applied it. */
  readonly live: number;
  /** All live nodes. */
  readonly total: number;
  /** Incarnations of live nodes that have not applied it yet, sorted. */
  readonly lagging: readonly string[];
  /** Store time of the last receipt so far, ms; null while there is none. A node that has moved on since tells a later time, never an earlier one. */
  readonly appliedAtMs: number | null;
}

/**
 * Pure: compares every live node's own word with a change's position, by number.
 * @param position feed id that the publish answered
 * @param nowMs store time of reading the nodes
 */
export function receiptsOf(nodes: readonly Heartbeat[], position: string, nowMs: number): Receipts {
  const counted = liveNodes(nodes, nowMs).filter((node) => node.kind === 'service');
  const applied = counted.filter((node) => compareStreamIds(node.position, position) >= 0);
  const lagging = counted.filter((node) => compareStreamIds(node.position, position) < 0);
  return {
    live: applied.length,
    total: counted.length,
    lagging: lagging.map((node) => node.incarnation),
    appliedAtMs: applied.length > 0 ? Math.max(...applied.map((node) => node.appliedAtMs)) : null,
  };
}
