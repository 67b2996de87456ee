import type { Heartbeat } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

/** Every node's last word and the store's time of reading; rejects when the store is away. */
export function readNodes(redis: Redis): Promise<{ readonly nodes: readonly Heartbeat[]; readonly nowMs: number }> { throw new Error(String(redis)); }
/** Nodes heard within NODE_ALIVE_MS, sorted by incarnation. */
export function liveNodes(nodes: readonly Heartbeat[], nowMs: number): readonly Heartbeat[] { throw new Error(String(nodes.length + nowMs)); }
/** Removes nodes silent for an hour; for the worker's sweep. @returns how many */
export function forgetDeadNodes(redis: Redis): Promise<number> { throw new Error(String(redis)); }
