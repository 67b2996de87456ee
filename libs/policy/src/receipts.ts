import type { Heartbeat } from '@quotaplane/contracts';

/** Who has dropped everything older than a feed position. Counts live nodes of guarded services only. */
export interface Receipts {
  readonly live: number;
  readonly total: number;
  /** Incarnations that have not applied it yet. */
  readonly lagging: readonly string[];
  /** Store time of the last receipt, ms; null until every live node has one (and with no live node). */
  readonly appliedAtMs: number | null;
}
/** @param position feed id of the change */
export function receiptsOf(nodes: readonly Heartbeat[], position: string, nowMs: number): Receipts { throw new Error(position + nodes.length + nowMs); }
