import type { QuotaReading } from './read-limits';

interface Counter {
  remaining: number;
  /** Instant from which there are more units than `remaining`. */
  moreAtMs: number;
}

interface Charged {
  readonly counter: string;
  readonly cost: number;
}

/** Routes and counters remembered; a client that calls more of them than this forgets the oldest. */
const KEPT = 500;

/**
 * Keeps what answers said of the limits, to hold back a call that would be denied. It knows a route from its first answer on; a route it does not
 * know, and a limit that does not tell when there will be more, it never holds back.
 */
export class Pacer {
  private readonly charges = new Map<string, readonly Charged[]>();
  private readonly counters = new Map<string, Counter>();

  /** ms until the route's known limits have room for another call; 0 when they have, and then the call is counted in. */
  holdMs(route: string, nowMs: number): number {
    const charges = this.charges.get(route) ?? [];
    let holdMs = 0;
    for (const { counter, cost } of charges) {
      const known = this.counters.get(counter);
      if (known && known.remaining < cost) holdMs = Math.max(holdMs, known.moreAtMs - nowMs);
    }
    if (holdMs > 0) return holdMs;
    // Calls under way are not in the last answer yet: without this all that start together would pass.
    for (const { counter, cost } of charges) {
      const known = this.counters.get(counter);
      if (known) known.remaining = Math.max(0, known.remaining - cost);
    }
    return 0;
  }

  saw(route: string, reading: QuotaReading, nowMs: number): void {
    const origin = originOf(route);
    const charges: Charged[] = [];
    for (const { name, counts, remaining, moreAfterMs, cost, partition } of reading.limits) {
      if (counts !== 'units' || remaining === undefined || moreAfterMs === undefined || cost === undefined) continue;
      const counter = `${origin} ${name} ${partition ?? ''}`;
      remember(this.counters, counter, { remaining, moreAtMs: nowMs + moreAfterMs });
      charges.push({ counter, cost });
    }
    // A denial lists the violated limits only, and some answers none: what was known of the route stays.
    const isPart = charges.length < (this.charges.get(route)?.length ?? 0);
    if (charges.length > 0 && !isPart) remember(this.charges, route, charges);
  }
}

/** Names a route by method, origin and path; undefined for an address that is none. In a browser it may be relative to the page. */
export function routeOf(method: string, url: string): string | undefined {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  if (!URL.canParse(url, page)) return undefined;
  const { origin, pathname } = new URL(url, page);
  return `${method} ${origin} ${pathname}`;
}
const originOf = (route: string): string => route.split(' ')[1] ?? '';

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > KEPT ? map.keys().next() : undefined;
  if (oldest && !oldest.done) map.delete(oldest.value);
}
