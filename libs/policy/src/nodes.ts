import { heartbeatSchema, NODE_ALIVE_MS, redisKeys, type Heartbeat } from '@quotaplane/contracts';
import { z } from 'zod';
import { parseJson } from './parse-json';
import type { PolicyRedis } from './policy-redis';
import { runScript } from './run-script';

const nodesReply = z.tuple([z.int(), z.array(z.string())]);

/** Every node's last word, and the time of reading by the clock that dated them; rejects when the store is away. Words in an unknown format are left out. */
export async function readNodes(redis: PolicyRedis): Promise<{ readonly nodes: readonly Heartbeat[]; readonly nowMs: number }> {
  const [nowMs, flat] = nodesReply.parse(await runScript(redis, 'read-nodes', [redisKeys.nodes], []));
  const nodes = flat.filter((_text, index) => index % 2 === 1).map((word) => parseJson(heartbeatSchema, word));
  return { nodes: nodes.filter((node) => node !== null), nowMs };
}

/** Nodes heard within NODE_ALIVE_MS, sorted by incarnation, so that all nodes see the same order. */
export function liveNodes(nodes: readonly Heartbeat[], nowMs: number): readonly Heartbeat[] {
  return nodes.filter((node) => nowMs - node.seenAtMs <= NODE_ALIVE_MS).sort((left, right) => (left.incarnation < right.incarnation ? -1 : 1));
}

/** Silent for this long: a node that never said goodbye, ms. */
const FORGET_AFTER_MS = 3_600_000;

/**
 * Removes nodes silent for an hour; for the worker's sweep. One that speaks again puts itself back within a second.
 * @returns how many were removed
 */
export async function forgetDeadNodes(redis: PolicyRedis): Promise<number> {
  const { nodes, nowMs } = await readNodes(redis);
  const dead = nodes.filter((node) => nowMs - node.seenAtMs > FORGET_AFTER_MS).map((node) => node.incarnation);
  return dead.length > 0 ? redis.hdel(redisKeys.nodes, ...dead) : 0;
}

/** Redis TIME in whole ms, on a cluster that of the server which holds the heartbeats. */
export async function readStoreTime(redis: PolicyRedis): Promise<number> {
  return (await readNodes(redis)).nowMs;
}
