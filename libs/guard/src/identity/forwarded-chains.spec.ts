import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClientAddress } from './client-address';
import type { GuardedRequest } from './identity';

const from = (remoteAddress: string, forwarded?: string | string[]): GuardedRequest => ({
  method: 'GET', url: '/', headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }, params: {}, query: {}, body: undefined, socket: { remoteAddress },
});

const octet = fc.integer({ min: 0, max: 255 });
/** 10.0.0.0/8 is where the proxies are. */
const proxy = fc.tuple(octet, octet, octet).map((parts) => `10.${parts.join('.')}`);
const client = fc.tuple(fc.constantFrom(192, 198, 203), octet, octet, octet).map((parts) => parts.join('.'));
const garbage = fc.constantFrom('', ' ', 'unknown', '300.1.1.1', '::::', '<script>', '-', '198.51.100.7:port', '[::1');
const entry = fc.oneof({ weight: 4, arbitrary: proxy }, { weight: 4, arbitrary: client }, { weight: 1, arbitrary: garbage });
const isProxy = (address: string): boolean => address.startsWith('10.');
const isAddress = (address: string): boolean => /^\d+(\.\d+){3}$/.test(address) && !address.startsWith('300.');

/** A second reading of the rule, from left to right. */
const clientOf = (peer: string, chain: readonly string[]): string => {
  let known = peer;
  let isBelieved = isProxy(peer);
  for (let at = chain.length - 1; at >= 0 && isBelieved; at -= 1) {
    const address = (chain[at] ?? '').trim();
    if (!isAddress(address)) break;
    known = address;
    isBelieved = isProxy(address);
  }
  return known;
};

// Mutation: take the left-most entry; skip garbage; believe a peer that is no proxy.
it('C018 C019 tells the client of any chain as a second reading of the rule does', () => {
  const trusting = new ClientAddress({ trustedProxies: ['10.0.0.0/8'], ipv6Prefix: 64 });
  fc.assert(fc.property(fc.oneof(proxy, client), fc.array(entry, { minLength: 1, maxLength: 6 }), fc.constantFrom(',', ', ', ' , '), (peer, chain, comma) => {
    expect(trusting.of(from(peer, chain.join(comma)))).toBe(clientOf(peer, chain));
    // Node joins repeated fields into one text; of a list that another carrier hands on the first entry is never empty.
    if (chain[0] !== '') expect(trusting.of(from(peer, chain))).toBe(clientOf(peer, chain));
    expect(trusting.of(from(`::ffff:${peer}`, chain.join(comma)))).toBe(clientOf(peer, chain));
  }), { numRuns: 2_000 });
});

// Mutation: believe any peer where no proxy is declared.
it('C018 counts by the socket, whatever callers write, where no proxy is declared', () => {
  const cautious = new ClientAddress({ trustedProxies: [], ipv6Prefix: 64 });
  fc.assert(fc.property(fc.oneof(proxy, client), fc.oneof(fc.string(), fc.array(entry, { maxLength: 6 }).map(String)), (peer, forwarded) => {
    expect(cautious.of(from(peer, forwarded))).toBe(peer);
  }));
});

// Mutation: keep the bits past the prefix, or cut one more than it says.
it('C017 gives two IPv6 addresses one name exactly where they share the prefix', () => {
  const bits = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
  const written = (value: bigint): string => (value.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
  // Outside of ::ffff:0:0/96, which is IPv4.
  const global = bits.map((value) => (value & ((1n << 125n) - 1n)) | (1n << 125n));
  fc.assert(fc.property(global, fc.integer({ min: 32, max: 128 }), fc.integer({ min: 0, max: 127 }), (value, prefix, flipped) => {
    const reader = new ClientAddress({ trustedProxies: [], ipv6Prefix: prefix });
    const other = value ^ (1n << BigInt(127 - flipped));
    expect(reader.of(from(written(value))) === reader.of(from(written(other)))).toBe(flipped >= prefix);
  }), { numRuns: 1_000 });
});
