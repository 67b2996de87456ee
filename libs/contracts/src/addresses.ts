import ipaddr from 'ipaddr.js';

/** Leading bits by which IPv6 callers are counted unless a service says otherwise. */
export const IPV6_PREFIX = 64;
const UNKNOWN_ADDRESS = 'unknown';
/** The IPv4 addresses within IPv6, `::ffff:0:0/96`. */
const MAPPED_BITS = 96;

/** `2001:db8::1` -> `2001:db8::/64`, `::ffff:192.0.2.1` -> `192.0.2.1`; what is no address is `unknown`. The form that callers are counted by. */
export function normaliseAddress(text: string, ipv6Prefix: number): string {
  const bare = text.split('%')[0] ?? '';
  if (!ipaddr.isValid(bare)) return UNKNOWN_ADDRESS;
  const address = ipaddr.process(bare);
  if (address.kind() === 'ipv4') return address.toString();
  return rangeText(ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/${ipv6Prefix}`), ipv6Prefix);
}

/**
 * An address or CIDR range in its one form: host bits cleared, IPv4-mapped IPv6 as IPv4, a whole address without its length. A bare IPv6
 * address is kept as its /64, for that is how its caller is counted.
 * @returns undefined for what is neither
 */
export function normaliseRange(text: string): string | undefined {
  if (!text.includes('/')) return ipaddr.isValid(text) ? normaliseAddress(text, IPV6_PREFIX) : undefined;
  if (!ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv4) return rangeText(ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`), bits);
  if (address.isIPv4MappedAddress() && bits >= MAPPED_BITS) return normaliseRange(`${address.toIPv4Address().toString()}/${bits - MAPPED_BITS}`);
  return rangeText(ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/${bits}`), bits);
}

/**
 * The one caller that is meant by an address or an IPv6 prefix, as it is counted.
 * @returns undefined for an IPv4 range, which is many callers, and for what is no address
 */
export function countedAddress(text: string): string | undefined {
  const range = normaliseRange(text);
  return range !== undefined && /^[\d.]+\//.test(range) ? undefined : range;
}

const rangeText = (network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string =>
  (bits === (network.kind() === 'ipv4' ? 32 : 128) ? network.toString() : `${network.toString()}/${bits}`);
