import { heartbeatSchema, NODE_ALIVE_MS, redisKeys, type Heartbeat } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { parseJson } from './parse-json';

/** Every node's last word, and the store's time of reading; rejects when the store is away. Words in an unknown format are left out. */
export async function readNodes(redis: Redis): Promise<{ readonly nodes: readonly Heartbeat[]; readonly nowMs: number }> {
  const [words, nowMs] = await Promise.all([redis.hgetall(redisKeys.nodes), readStoreTime(redis)]);
  const nodes = Object.values(words).map((word) => parseJson(heartbeatSchema, word));
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
export async function forgetDeadNodes(redis: Redis): Promise<number> {
  const { nodes, nowMs } = await readNodes(redis);
  const dead = nodes.filter((node) => nowMs - node.seenAtMs > FORGET_AFTER_MS).map((node) => node.incarnation);
  return dead.length > 0 ? redis.hdel(redisKeys.nodes, ...dead) : 0;
}

/** Redis TIME in whole ms. */
export async function readStoreTime(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
