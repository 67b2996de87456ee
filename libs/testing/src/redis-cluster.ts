import { Redis } from 'ioredis';
import { freePort } from '../../../tools/stores/index.mjs';
import { startRedis, type TestRedis } from './redis';
import { RedisClusterNode } from './redis-cluster-node';
import { SlotMoves } from './redis-cluster-slots';

export interface TestRedisClusterOptions {
  /** Replicas of each master; 0 when left out. With one, a killed master's slots are served again after about `nodeTimeoutMs` + 1 s. */
  replicas?: 0 | 1;
  /** Silence after which nodes call a master dead. 1 s with replicas; 5 s without, so that a busy machine never takes the cluster down. */
  nodeTimeoutMs?: number;
  /** Further lines of every node's redis.conf. */
  config?: string[];
}

export interface TestRedisCluster {
  /** The masters of the start, comma-separated: what `connectLimitRedis` takes. */
  readonly url: string;
  /** Three masters, then their replicas in the same order. Roles change with a failover; places in this list never do. */
  readonly nodes: readonly RedisClusterNode[];
  readonly slots: SlotMoves;
  /** The node that owns the key's slot now. */
  masterOf(key: string): Promise<RedisClusterNode>;
  /** Kills the owner of the key's slot (SIGKILL) and returns it; `server.restart()` brings it back. */
  killMasterOf(key: string): Promise<RedisClusterNode>;
  /** Resolves once every living node sees all slots served by living masters and every replica's copy is complete; rejects after `patienceMs`, 20 s by default. */
  untilWhole(patienceMs?: number): Promise<void>;
  /** Empties every master. */
  flush(): Promise<void>;
  /** Ends all servers and removes their files. */
  close(): Promise<void>;
}

/** All slots of a cluster, split evenly among three masters. */
const RANGES = [[0, 5_460], [5_461, 10_922], [10_923, 16_383]] as const;

/** A real Redis Cluster of three masters on 127.0.0.1, in about 3 s: a fresh cluster waits 2 s before it takes writes. */
export async function startTestRedisCluster(options: TestRedisClusterOptions = {}): Promise<TestRedisCluster> {
  const { replicas = 0, config = [], nodeTimeoutMs = replicas > 0 ? 1_000 : 5_000 } = options;
  const lines = ['cluster-enabled yes', `cluster-node-timeout ${nodeTimeoutMs}`, ...config];
  const nodes: RedisClusterNode[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    for (let count = RANGES.length * (1 + replicas); count > 0; count -= 1) nodes.push(await startNode(lines));
    await join(nodes);
  } catch (error) {
    await close();
    throw error;
  }
  const masterOf = async (key: string): Promise<RedisClusterNode> => ownerOf(nodes, await slotOf(nodes, key));
  return {
    url: nodes.slice(0, RANGES.length).map((node) => node.server.url).join(','),
    nodes,
    slots: new SlotMoves(nodes, (key) => slotOf(nodes, key), (slot) => ownerOf(nodes, slot)),
    masterOf,
    async killMasterOf(key) {
      const node = await masterOf(key);
      await node.server.kill();
      return node;
    },
    untilWhole: (patienceMs = 20_000) => untilWhole(nodes, patienceMs),
    async flush() {
      for (const node of living(nodes)) if (await node.isMaster()) await node.admin.flushall();
    },
    close,
  };
}

async function startNode(lines: readonly string[]): Promise<RedisClusterNode> {
  // A bus port of its own: the default, port + 10,000, may be taken.
  const server: TestRedis = await startRedis({ config: [...lines, `cluster-port ${await freePort()}`] });
  const admin = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  admin.on('error', () => undefined);
  return new RedisClusterNode(server, admin, await admin.cluster('MYID'));
}

async function join(nodes: readonly RedisClusterNode[]): Promise<void> {
  const masters = nodes.slice(0, RANGES.length);
  for (const [index, node] of nodes.entries()) {
    const range = RANGES[index];
    // Epochs that differ from the start: equal ones would first have to be settled by gossip.
    await node.admin.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    if (range !== undefined) await node.admin.call('CLUSTER', 'ADDSLOTSRANGE', ...range);
  }
  for (const node of nodes) for (const other of nodes) if (other !== node) await node.meet(other);
  await until('all nodes know each other', 20_000, async () => (await Promise.all(nodes.map((node) => node.knows(nodes)))).every(Boolean));
  for (const [index, replica] of nodes.slice(RANGES.length).entries()) await replica.admin.cluster('REPLICATE', masters[index]?.id ?? '');
  await untilWhole(nodes, 20_000);
}

const living = (nodes: readonly RedisClusterNode[]): RedisClusterNode[] => nodes.filter((node) => node.isAlive);

function untilWhole(nodes: readonly RedisClusterNode[], patienceMs: number): Promise<void> {
  return until('the cluster is whole', patienceMs, async () => {
    const alive = living(nodes);
    const ids = new Set(alive.map((node) => node.id));
    const views = await Promise.all(alive.map(async (node) => (await node.isWhole(ids)) && (await node.isInStep())));
    return views.every(Boolean);
  });
}

function slotOf(nodes: readonly RedisClusterNode[], key: string): Promise<number> {
  const [node] = living(nodes);
  if (node === undefined) throw new ClusterNotReadyError('a node lives');
  return node.admin.cluster('KEYSLOT', key);
}

async function ownerOf(nodes: readonly RedisClusterNode[], slot: number): Promise<RedisClusterNode> {
  for (const node of living(nodes)) {
    const ownerId = await node.ownerOf(slot);
    const owner = nodes.find((candidate) => candidate.id === ownerId);
    if (owner !== undefined) return owner;
  }
  throw new ClusterNotReadyError(`slot ${slot} has an owner`);
}

async function until(what: string, patienceMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const deadlineAtMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadlineAtMs) throw new ClusterNotReadyError(what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The cluster did not come to the state in the message in time. */
export class ClusterNotReadyError extends Error {
  override readonly name = 'ClusterNotReadyError';
  constructor(what: string) {
    super(`Redis Cluster: never came true in time: ${what}`);
  }
}
