import { normaliseAddress } from '@quotaplane/contracts';
import ipaddr from 'ipaddr.js';
import { headerOf, type GuardedRequest } from './identity';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface ClientAddressOptions {
  /** Addresses or CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Leading bits by which IPv6 callers are counted. */
  readonly ipv6Prefix: number;
  /** Told once when a forwarding header arrives from a peer that is not declared. */
  readonly onUndeclaredProxy?: (peer: string) => void;
}

/** Most normalised addresses remembered; parsing costs more than the look-up. */
const MEMO_MAX = 5000;

/** @throws {TypeError} it is neither an address nor a CIDR range */
export function parseRange(text: string): [Address, number] {
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw new TypeError(`${text} is not a CIDR range`);
    const [address, bits] = ipaddr.parseCIDR(text);
    return [address, bits];
  }
  if (!ipaddr.isValid(text)) throw new TypeError(`${text} is not an address`);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/**
 * Who calls, by address: the socket's peer unless that is a declared proxy, then the right-most entry of X-Forwarded-For that is not one.
 * IPv4-mapped IPv6 is IPv4; IPv6 is counted by prefix.
 * @see semantics: client address
 */
export class ClientAddress {
  private readonly trusted: [Address, number][];
  private readonly memo = new Map<string, string>();
  private hasWarned = false;

  constructor(private readonly options: ClientAddressOptions) {
    this.trusted = options.trustedProxies.map(parseRange);
  }

  of(request: GuardedRequest): string {
    const peer = request.socket.remoteAddress ?? '';
    const forwarded = headerOf(request, 'x-forwarded-for');
    if (forwarded === undefined) return this.normalise(peer);
    if (!this.isTrusted(peer)) {
      this.warnOnce(peer);
      return this.normalise(peer);
    }
    // Entries are appended, so only the right-hand ones were written by proxies we know.
    const joined = Array.isArray(request.headers['x-forwarded-for']) ? request.headers['x-forwarded-for'].join(',') : forwarded;
    let client = peer;
    for (const entry of joined.split(',').reverse()) {
      const address = withoutPort(entry.trim());
      // A trusted proxy that hands on garbage is itself the last address known.
      if (!ipaddr.isValid(address)) break;
      client = address;
      if (!this.isTrusted(address)) break;
    }
    return this.normalise(client);
  }

  private isTrusted(text: string): boolean {
    if (this.trusted.length === 0 || !ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.trusted.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
  }

  private warnOnce(peer: string): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.options.onUndeclaredProxy?.(peer);
  }

  private normalise(text: string): string {
    const known = this.memo.get(text);
    if (known !== undefined) return known;
    const normal = normaliseAddress(text, this.options.ipv6Prefix);
    if (this.memo.size >= MEMO_MAX) this.memo.clear();
    this.memo.set(text, normal);
    return normal;
  }
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry);
  if (bracketed?.[1]) return bracketed[1];
  return /^[\d.]+:\d+$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry;
}
