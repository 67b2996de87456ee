interface Slot<Value> {
  value: Value;
  isUsed: boolean;
}

/**
 * A map of at most `maxEntries` that lets the least used go first (second chance): a read only marks its slot, so that the hot path
 * allocates nothing and re-orders nothing.
 */
export class BoundedMap<Value> {
  private readonly slots = new Map<string, Slot<Value>>();

  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.slots.size;
  }

  get(key: string): Value | undefined {
    const slot = this.slots.get(key);
    if (slot === undefined) return undefined;
    slot.isUsed = true;
    return slot.value;
  }

  /** Like get, without counting as a use. */
  peek(key: string): Value | undefined {
    return this.slots.get(key)?.value;
  }

  set(key: string, value: Value): void {
    const slot = this.slots.get(key);
    if (slot !== undefined) {
      slot.value = value;
      slot.isUsed = true;
      return;
    }
    if (this.slots.size >= this.maxEntries) this.evictOne();
    this.slots.set(key, { value, isUsed: false });
  }

  delete(key: string): void {
    this.slots.delete(key);
  }

  *values(): IterableIterator<Value> {
    for (const slot of this.slots.values()) yield slot.value;
  }

  /** Each used slot is spared once and moves to the end, so the walk meets an unused one within a round. */
  private evictOne(): void {
    for (const [key, slot] of this.slots) {
      this.slots.delete(key);
      if (!slot.isUsed) return;
      slot.isUsed = false;
      this.slots.set(key, slot);
    }
  }
}
