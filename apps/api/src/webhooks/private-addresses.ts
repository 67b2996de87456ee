import { BlockList, isIP } from 'node:net';

/** IPv4 that is not somebody's on the public internet (IANA special-purpose registry). */
const SPECIAL_V4 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24],
  ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
] as const) SPECIAL_V4.addSubnet(network, bits, 'ipv4');

/** Of global unicast: protocol assignments with Teredo and ORCHID, and documentation. */
const SPECIAL_V6 = new BlockList();
for (const [network, bits] of [['2001::', 23], ['2001:db8::', 32], ['3fff::', 20]] as const) SPECIAL_V6.addSubnet(network, bits, 'ipv6');

/** First of the eight groups of an address, and the two that hold an IPv4 address inside it, by prefix. */
const MAPPED = { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 };
const NAT64 = { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 };
const SIX_TO_FOUR = { prefix: [0x2002], at: 1 };

/**
 * Whether a delivery may not go to this address: loopback, private, link-local, unique-local, carrier-grade NAT, multicast, unspecified, reserved, and
 * IPv6 that leads to such an IPv4 (mapped, NAT64, 6to4). Of IPv6 only global unicast passes, so that what is not assigned yet is refused too.
 * @param address as a resolver gives it; what is no address is refused
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.split('%')[0] ?? '';
  const family = isIP(bare);
  if (family === 4) return SPECIAL_V4.check(bare, 'ipv4');
  if (family === 0) return true;
  const groups = groupsOf(bare);
  const inner = [MAPPED, NAT64, SIX_TO_FOUR].find(({ prefix }) => prefix.every((group, index) => groups[index] === group));
  if (inner) return SPECIAL_V4.check(dotted(groups[inner.at] ?? 0, groups[inner.at + 1] ?? 0), 'ipv4');
  const isGlobalUnicast = (groups[0] ?? 0) >> 13 === 0b001;
  return !isGlobalUnicast || SPECIAL_V6.check(bare, 'ipv6');
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** The eight 16 bit groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const front = parseGroups(head);
  if (tail === undefined) return front;
  const back = parseGroups(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}

const parseGroups = (text: string): number[] =>
  text === '' ? [] : text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
