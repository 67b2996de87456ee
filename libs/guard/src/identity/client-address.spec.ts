import { normaliseAddress } from '@quotaplane/contracts';
import { describe, expect, it, vi } from 'vitest';
import { ClientAddress, type ClientAddressOptions } from './client-address';
import type { GuardedRequest } from './identity';

const from = (remoteAddress: string, forwarded?: string | string[]): GuardedRequest => ({
  method: 'GET', url: '/', headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }, params: {}, query: {}, body: undefined, socket: { remoteAddress },
});
const reader = (options: Partial<ClientAddressOptions> = {}): ClientAddress => new ClientAddress({ trustedProxies: [], ipv6Prefix: 64, ...options });

describe('the client address', () => {
  // Mutation: the whole IPv6 address is used.
  it('C017 counts one customer block of IPv6 as one, by a prefix that can be chosen', () => {
    const inBlock = Array.from({ length: 100 }, (_, index) => reader().of(from(`2001:db8:0:1::${index.toString(16)}`)));
    expect(new Set(inBlock)).toEqual(new Set(['2001:db8:0:1::/64']));
    expect(reader({ ipv6Prefix: 48 }).of(from('2001:db8:0:2::1'))).toBe('2001:db8::/48');
    expect(reader({ ipv6Prefix: 128 }).of(from('2001:db8::1'))).toBe('2001:db8::1');
  });

  it('takes IPv4-mapped IPv6 for IPv4 and drops a zone', () => {
    expect(normaliseAddress('::ffff:192.0.2.1', 64)).toBe('192.0.2.1');
    expect(normaliseAddress('fe80::1%eth0', 64)).toBe('fe80::/64');
    expect(normaliseAddress('', 64)).toBe('unknown');
  });

  // Mutation: the left-most entry, which callers write themselves, is taken.
  it('C018 takes the right-most entry that no trusted proxy wrote', () => {
    const trusting = reader({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    expect(trusting.of(from('127.0.0.1', '203.0.113.9, 198.51.100.7, 10.1.1.1'))).toBe('198.51.100.7');
    expect(trusting.of(from('127.0.0.1', ['203.0.113.9', '198.51.100.8:4711']))).toBe('198.51.100.8');
    expect(trusting.of(from('127.0.0.1', '198.51.100.7, garbage'))).toBe('127.0.0.1');
    expect(trusting.of(from('203.0.113.5', '198.51.100.7'))).toBe('203.0.113.5');
    expect(trusting.of(from('::ffff:127.0.0.1', '[2001:db8::5]:80'))).toBe('2001:db8::/64');
  });

  // Mutation: the warning is given for each call, or forwarded clients share the proxy's address.
  it('C019 keeps clients behind a declared proxy apart and warns once about an undeclared one', () => {
    const onUndeclaredProxy = vi.fn();
    const declared = reader({ trustedProxies: ['127.0.0.0/8'], onUndeclaredProxy });
    expect(declared.of(from('127.0.0.1', '198.51.100.1'))).not.toBe(declared.of(from('127.0.0.1', '198.51.100.2')));
    expect(onUndeclaredProxy).not.toHaveBeenCalled();
    const undeclared = reader({ onUndeclaredProxy });
    for (let call = 0; call < 5; call += 1) expect(undeclared.of(from('127.0.0.1', `198.51.100.${call}`))).toBe('127.0.0.1');
    expect(onUndeclaredProxy).toHaveBeenCalledOnce();
  });
});
