import { expect, it } from 'vitest';
import { countedAddress, normaliseAddress, normaliseRange } from './addresses';

// Mutation: leave the IPv4-mapped branch out, or keep host bits, and one of these differs from what a guard counts by.
it('gives every spelling of an address or range its one form', () => {
  const forms: Readonly<Record<string, string | undefined>> = {
    '192.0.2.1': '192.0.2.1', '192.0.2.77/24': '192.0.2.0/24', '192.0.2.1/32': '192.0.2.1',
    '2001:DB8:0:0::1': '2001:db8::/64', '2001:db8::1/48': '2001:db8::/48', '2001:db8::1/128': '2001:db8::1',
    '::ffff:192.0.2.1': '192.0.2.1', '::ffff:192.0.2.9/128': '192.0.2.9', '::ffff:192.0.2.9/120': '192.0.2.0/24',
    nonsense: undefined, '192.0.2.1/33': undefined, '': undefined,
  };
  for (const [text, form] of Object.entries(forms)) expect([text, normaliseRange(text)]).toEqual([text, form]);
});

it('names one counted caller, and none for an IPv4 range', () => {
  expect(countedAddress('2001:db8::9')).toBe(normaliseAddress('2001:db8::9', 64));
  expect(countedAddress('2001:db8::9/56')).toBe(normaliseAddress('2001:db8::9', 56));
  expect([countedAddress('192.0.2.0/24'), countedAddress('x')]).toEqual([undefined, undefined]);
});
