/** Entries that all maps of this process hold together, at most: one or two kilobytes each where they hold calls, by the growth of the heap. */
const TOTAL_MAX = 100_000;
/** Entries of one generation; a map holds at most two. As many keys as this may come in rounds, and each is found again. */
const GENERATION_MAX = 10_240;

/** Maps with entries, the least lately filled first. */
const maps = new Set<RecentMap<unknown>>();
let total = 0;

/**
 * A bounded map that forgets what was not asked for lately. Entries live in two generations: a read lifts its entry into the young one, and where that
 * is full the old one goes. So a round of more keys than fit costs each of them one building anew, and never all of them at once in mid-round.
 * All maps share one budget: past it the map that was filled longest ago is emptied, unless it was read since it was last looked at.
 */
export class RecentMap<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();
  private isUsed = false;

  constructor(private readonly generationMax = GENERATION_MAX) {}

  get size(): number {
    return this.young.size + this.old.size;
  }

  get(key: string): Value | undefined {
    this.isUsed = true;
    const found = this.young.get(key);
    if (found !== undefined || this.old.size === 0) return found;
    const aged = this.old.get(key);
    if (aged === undefined) return undefined;
    this.old.delete(key);
    total -= 1;
    this.set(key, aged);
    return aged;
  }

  /** @param key not held by now */
  set(key: string, value: Value): void {
    if (this.young.size >= this.generationMax) {
      total -= this.old.size;
      this.old = this.young;
      this.young = new Map();
    }
    if (total >= TOTAL_MAX) emptyOne();
    maps.add(this);
    this.young.set(key, value);
    total += 1;
  }

  /** @internal Whether it was read since the last time; it then stays for now. */
  spare(): boolean {
    const wasUsed = this.isUsed;
    this.isUsed = false;
    return wasUsed;
  }

  /** @internal */
  clear(): void {
    total -= this.size;
    this.young = new Map();
    this.old = new Map();
  }
}

/** Each map is spared once at most, so that the walk meets one within a round. */
function emptyOne(): void {
  for (const map of maps) {
    maps.delete(map);
    if (map.spare()) {
      maps.add(map);
      continue;
    }
    map.clear();
    return;
  }
}
