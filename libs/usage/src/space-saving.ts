/** A monitored key. Its true count lies in `count - error` to `count`. */
export interface Monitored<D> {
  readonly key: string;
  readonly count: number;
  /** Most that `count` may be too large: what the key that gave up this place had. */
  readonly error: number;
  /** The caller's own figures; begun anew whenever the key is taken up. */
  readonly detail: D;
}

/**
 * The most frequent keys of a stream in `capacity` counters, whatever the number of keys; each addition is O(1).
 * - the counts add up to `total`, so that the smallest of a full sketch, `floor`, is at most `total / capacity`;
 * - a key that is not monitored occurred at most `floor` times: every key above that is there;
 * - a monitored count is never too small, and too large by `error` at most, which never passes `floor`.
 * @see Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in data streams (2005)
 */
export class SpaceSaving<D> {
  private readonly places = new Map<string, { -readonly [K in keyof Monitored<D>]: Monitored<D>[K] }>();
  /** Keys by count, each set in the order of arrival. */
  private readonly byCount = new Map<number, Set<string>>();
  private smallest = 0;
  private added = 0;

  /** @param capacity counters kept, 1 or more */
  constructor(readonly capacity: number, private readonly newDetail: () => D) {}

  /** Counts one occurrence. @returns the place of the key, to write its detail into */
  add(key: string): Monitored<D> {
    this.added += 1;
    const known = this.places.get(key);
    if (known) {
      this.move(key, known.count, known.count + 1);
      known.count += 1;
      return known;
    }
    const error = this.places.size < this.capacity ? 0 : this.giveUpSmallest();
    const place = { key, count: error + 1, error, detail: this.newDetail() };
    this.places.set(key, place);
    this.put(key, place.count);
    if (error === 0) this.smallest = 1;
    return place;
  }

  get(key: string): Monitored<D> | undefined {
    return this.places.get(key);
  }

  /** Occurrences counted. */
  get total(): number {
    return this.added;
  }

  /** Most that a key which is not monitored can have occurred; 0 while there was room for all. */
  get floor(): number {
    return this.places.size < this.capacity ? 0 : this.smallest;
  }

  get size(): number {
    return this.places.size;
  }

  [Symbol.iterator](): IterableIterator<Monitored<D>> {
    return this.places.values();
  }

  /** @returns the count that was given up */
  private giveUpSmallest(): number {
    const count = this.smallest;
    const [key] = this.byCount.get(count) ?? [];
    if (key !== undefined) {
      this.places.delete(key);
      this.byCount.get(count)?.delete(key);
    }
    // Whoever takes the place has one more: where it was the last of its count, that is the smallest now.
    this.dropEmpty(count);
    return count;
  }

  private move(key: string, from: number, to: number): void {
    const keys = this.byCount.get(from);
    // The most frequent key stands alone at its count: its set goes along, in place of a new one for each occurrence.
    if (keys?.size === 1 && !this.byCount.has(to)) {
      this.byCount.delete(from);
      this.byCount.set(to, keys);
      if (from === this.smallest) this.smallest = to;
      return;
    }
    this.byCount.get(from)?.delete(key);
    this.put(key, to);
    this.dropEmpty(from);
  }

  private put(key: string, count: number): void {
    const keys = this.byCount.get(count);
    if (keys) keys.add(key);
    else this.byCount.set(count, new Set([key]));
  }

  private dropEmpty(count: number): void {
    if (this.byCount.get(count)?.size !== 0) return;
    this.byCount.delete(count);
    if (count === this.smallest) this.smallest = count + 1;
  }
}
