import type { Redis } from 'ioredis';
import { isAlive } from '../../../tools/stores/index.mjs';
import type { TestRedis } from './redis';

type SlotRange = [from: number, to: number, ...nodes: [host: string, port: number, id: string][]];

/** One server of a test cluster and this node's own view of the rest. */
export class RedisClusterNode {
  constructor(
    readonly server: TestRedis,
    /** A connection to this node alone; it follows no redirection. */
    readonly admin: Redis,
    readonly id: string,
  ) {}

  get isAlive(): boolean {
    return isAlive(this.server.pid);
  }

  async meet(other: RedisClusterNode): Promise<void> {
    const busPort = await other.busPort();
    await this.admin.call('CLUSTER', 'MEET', '127.0.0.1', other.server.port, busPort);
  }

  /** Whether it has shaken hands with all of them. */
  async knows(nodes: readonly RedisClusterNode[]): Promise<boolean> {
    const lines = (await this.text('NODES')).trim().split('\n');
    const met = lines.filter((line) => !/ \S*(handshake|noaddr)\S* /.test(line)).map((line) => line.split(' ')[0]);
    return met.length === nodes.length && nodes.every((node) => met.includes(node.id));
  }

  async isMaster(): Promise<boolean> {
    return (await this.admin.info('replication')).includes('role:master');
  }

  /** True for a master and for a replica whose copy is complete. */
  async isInStep(): Promise<boolean> {
    const text = await this.admin.info('replication');
    return text.includes('role:master') || text.includes('master_link_status:up');
  }

  /** Whether it is up and sees every slot owned by one of these nodes. */
  async isWhole(livingIds: ReadonlySet<string>): Promise<boolean> {
    if (!(await this.text('INFO')).includes('cluster_state:ok')) return false;
    const ranges = await this.ranges();
    const served = ranges.reduce((sum, [from, to, owner]) => sum + (owner !== undefined && livingIds.has(owner[2]) ? to - from + 1 : 0), 0);
    return served === 16_384;
  }

  /** Id of the slot's owner as this node sees it; undefined while nobody owns it. */
  async ownerOf(slot: number): Promise<string | undefined> {
    const range = (await this.ranges()).find(([from, to]) => from <= slot && slot <= to);
    return range?.[2]?.[2];
  }

  async close(): Promise<void> {
    this.admin.disconnect();
    await this.server.stop();
  }

  private async ranges(): Promise<SlotRange[]> {
    // ioredis types the ids of CLUSTER SLOTS loosely; the reply's form is fixed by Redis.
    return (await this.admin.call('CLUSTER', 'SLOTS')) as SlotRange[];
  }

  private async text(what: 'INFO' | 'NODES'): Promise<string> {
    return String(await this.admin.call('CLUSTER', what));
  }

  private async busPort(): Promise<string> {
    const mine = (await this.text('NODES')).split('\n').find((line) => line.includes('myself'));
    return /@(\d+)/.exec(mine ?? '')?.[1] ?? '';
  }
}
