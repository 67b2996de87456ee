import type { RedisClusterNode } from './redis-cluster-node';

/** Moving the slot of a key between masters, in the two steps that clients see: ASK while it is under way, MOVED when it is done. */
export class SlotMoves {
  constructor(
    private readonly nodes: readonly RedisClusterNode[],
    private readonly slotOf: (key: string) => Promise<number>,
    private readonly ownerOf: (slot: number) => Promise<RedisClusterNode>,
  ) {}

  /**
   * Opens the move of the key's slot: MIGRATING at its owner, IMPORTING at `to`. From now on a key that is not at the owner is answered
   * with ASK, several of which only some are there with TRYAGAIN.
   * @param carried which keys of the slot go over at once; all when left out
   * @param to the next master when left out
   */
  async begin(key: string, carried?: readonly string[], to?: RedisClusterNode): Promise<RedisClusterNode> {
    const slot = await this.slotOf(key);
    const owner = await this.ownerOf(slot);
    const target = to ?? (await this.otherMaster(owner));
    await target.admin.cluster('SETSLOT', slot, 'IMPORTING', owner.id);
    await owner.admin.cluster('SETSLOT', slot, 'MIGRATING', target.id);
    await carry(owner, target, carried ?? (await keysOf(owner, slot)));
    return target;
  }

  /** Carries what is left and hands the slot over: the old owner answers MOVED. */
  async finish(key: string, target: RedisClusterNode): Promise<void> {
    const slot = await this.slotOf(key);
    const owner = await this.ownerOf(slot);
    for (let keys = await keysOf(owner, slot); keys.length > 0; keys = await keysOf(owner, slot)) await carry(owner, target, keys);
    const told = [target, owner, ...this.nodes.filter((node) => node !== target && node !== owner && node.isAlive)];
    for (const node of told) if (await node.isMaster()) await node.admin.cluster('SETSLOT', slot, 'NODE', target.id);
  }

  /** Both steps. @returns the new owner */
  async move(key: string, to?: RedisClusterNode): Promise<RedisClusterNode> {
    const target = await this.begin(key, [], to);
    await this.finish(key, target);
    return target;
  }

  private async otherMaster(owner: RedisClusterNode): Promise<RedisClusterNode> {
    for (const node of this.nodes) if (node !== owner && node.isAlive && (await node.isMaster())) return node;
    return owner;
  }
}

const keysOf = (owner: RedisClusterNode, slot: number): Promise<string[]> => owner.admin.cluster('GETKEYSINSLOT', slot, 1_000);

async function carry(owner: RedisClusterNode, target: RedisClusterNode, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  // As an operator's tool does it: a key that the target has already is the older one.
  await owner.admin.call('MIGRATE', '127.0.0.1', target.server.port, '', 0, 5_000, 'REPLACE', 'KEYS', ...keys);
}
