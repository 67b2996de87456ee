/** When a counter may be dropped, at the earliest. */
export interface Expiry {
  readonly atMs: number;
  readonly counter: string;
}

/** Binary heap of counters, the earliest expiry on top. */
export class ExpiryQueue {
  private readonly heap: Expiry[] = [];

  /** The earliest expiry; undefined when empty. */
  get first(): Expiry | undefined {
    return this.heap[0];
  }

  push(expiry: Expiry): void {
    const { heap } = this;
    let at = heap.push(expiry) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || parent.atMs <= expiry.atMs) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = expiry;
  }

  pop(): Expiry | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      const childAt = this.smallerChild(at);
      const child = heap[childAt];
      if (child === undefined || child.atMs >= last.atMs) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
    return top;
  }

  private smallerChild(at: number): number {
    const [left, right] = [this.heap[2 * at + 1], this.heap[2 * at + 2]];
    return right !== undefined && left !== undefined && right.atMs < left.atMs ? 2 * at + 2 : 2 * at + 1;
  }
}
