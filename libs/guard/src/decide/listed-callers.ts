import type { ListKind, ListsDocument } from '@quotaplane/contracts';
import ipaddr from 'ipaddr.js';
import type { Call } from './call';

/** One entry of the allow list, the deny list or the penalties set by hand. */
export type ListEntry = ListsDocument['entries'][number];

/** The most severe entry that matches decides. */
const SEVERITY: Readonly<Record<ListKind, number>> = { deny: 3, penalty: 2, allow: 1 };
/** Most addresses remembered with their entries; a look-up by ranges costs ten times as much. */
const ADDRESSES_MAX = 5000;
const NONE: readonly ListEntry[] = [];

type Network = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Network, bits: number];
type Ranged = { readonly network: Network; readonly bits: number; readonly entry: ListEntry };

/** Entries by network, one map for each prefix length in use: a look-up costs as many steps as there are lengths, however many entries there are. */
class EntriesByRange {
  private readonly all: Ranged[] = [];
  private readonly ranges = new Map<string, Range>();
  private readonly lengths = new Map<string, Set<number>>();
  /** By the caller's own prefix length, which is the same for all IPv4 and all IPv6 callers of a service. */
  private readonly maps = new Map<number, Map<string, ListEntry[]>>();
  private readonly memo = new Map<string, readonly ListEntry[]>();

  /** @param before what held until now; reading ten thousand texts anew for each change would keep callers waiting */
  add(entry: ListEntry, before: EntriesByRange | undefined): void {
    const range = before?.ranges.get(entry.subject) ?? rangeOf(entry.subject);
    if (!range) return;
    this.ranges.set(entry.subject, range);
    const [network, bits] = range;
    this.all.push({ network, bits, entry });
    const kind = network.kind();
    this.lengths.set(kind, (this.lengths.get(kind) ?? new Set()).add(bits));
  }

  /** @param address as it is counted: an IPv4 address, or an IPv6 prefix */
  of(address: string): readonly ListEntry[] {
    if (this.all.length === 0) return NONE;
    const known = this.memo.get(address);
    if (known) return known;
    const found = this.find(address);
    if (this.memo.size >= ADDRESSES_MAX) this.memo.clear();
    this.memo.set(address, found);
    return found;
  }

  private find(address: string): readonly ListEntry[] {
    const caller = rangeOf(address);
    if (!caller) return NONE;
    const [network, callerBits] = caller;
    const entries = this.mapFor(callerBits);
    // A part of the prefix that a caller is counted by cannot be told from the rest of it: such an entry is about the whole.
    const lengths = new Set([...(this.lengths.get(network.kind()) ?? [])].map((bits) => Math.min(bits, callerBits)));
    return [...lengths].flatMap((bits) => entries.get(networkText(network, bits)) ?? NONE);
  }

  private mapFor(callerBits: number): ReadonlyMap<string, ListEntry[]> {
    let map = this.maps.get(callerBits);
    if (map) return map;
    this.maps.set(callerBits, (map = new Map()));
    for (const { network, bits, entry } of this.all) {
      const text = networkText(network, Math.min(bits, callerBits));
      const same = map.get(text);
      if (same) same.push(entry);
      else map.set(text, [entry]);
    }
    return map;
  }
}

/** One lists document, compiled: exact maps for tenants, keys and users, networks by prefix length for addresses. */
class CompiledLists {
  private readonly exact = new Map<string, ListEntry[]>();
  private readonly ranges = new EntriesByRange();

  constructor({ entries }: ListsDocument, before: CompiledLists | undefined) {
    for (const entry of entries) {
      if (entry.scope === 'ip') this.ranges.add(entry, before?.ranges);
      else this.addExact(entry.scope === 'tenant' ? `tenant:${entry.tenant ?? ''}` : `${entry.scope}:${entry.subject}`, entry);
    }
  }

  private addExact(id: string, entry: ListEntry): void {
    const same = this.exact.get(id);
    if (same) same.push(entry);
    else this.exact.set(id, [entry]);
  }

  match(call: Call, nowMs: number): ListEntry | undefined {
    let found = severest(undefined, this.exact.get(`tenant:${call.tenant}`), call, nowMs);
    if (call.keyId) found = severest(found, this.exact.get(`key:${call.keyId}`), call, nowMs);
    if (call.userId) found = severest(found, this.exact.get(`user:${call.userId}`), call, nowMs);
    return severest(found, this.ranges.of(call.address), call, nowMs);
  }
}

/** Finds the entry that decides over a call. The document is compiled once per text; without entries a call costs one comparison. */
export class ListedCallers {
  private compiled: CompiledLists | undefined;
  private document: ListsDocument | undefined;

  constructor(private readonly catalogue: { lists(): ListsDocument | undefined }) {}

  /** @param nowMs store time, by which entries begin and end */
  entryOf(call: Call, nowMs: number): ListEntry | undefined {
    const document = this.catalogue.lists();
    if (document !== this.document) {
      this.document = document;
      this.compiled = document && document.entries.length > 0 ? new CompiledLists(document, this.compiled) : undefined;
    }
    return this.compiled?.match(call, nowMs);
  }
}

function severest(best: ListEntry | undefined, entries: readonly ListEntry[] | undefined, { tenant }: Call, nowMs: number): ListEntry | undefined {
  if (entries === undefined) return best;
  let found = best;
  for (const entry of entries) {
    if (entry.tenant !== null && entry.tenant !== tenant) continue;
    if (entry.fromMs !== null && nowMs < entry.fromMs || entry.untilMs !== null && nowMs >= entry.untilMs) continue;
    if (found === undefined || isWorse(entry, found)) found = entry;
  }
  return found;
}

/** Of two of one list the one that lasts longer counts. */
function isWorse(entry: ListEntry, than: ListEntry): boolean {
  if (entry.list !== than.list) return SEVERITY[entry.list] > SEVERITY[than.list];
  return than.untilMs !== null && (entry.untilMs === null || entry.untilMs > than.untilMs);
}

function rangeOf(text: string): Range | undefined {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    return undefined;
  }
}

/**
 * Names the network of that length around an address: its length, then its bytes. Networks of two lengths or kinds never meet. Made of bytes, for ten
 * thousand of them are named at once when the lists change, in which time this process answers nobody.
 */
function networkText(address: Network, bits: number): string {
  const bytes = address.toByteArray().map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index))));
  return `${bits}/${String.fromCharCode(...bytes)}`;
}
