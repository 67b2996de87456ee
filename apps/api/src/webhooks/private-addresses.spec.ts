import { describe, expect, it } from 'vitest';
import { readConfig } from '../config/app-config';
import { isPrivateAddress } from './private-addresses';
import { ReceiverAddress, type ResolveName } from './receiver-address';

describe('addresses that no delivery goes to', () => {
  // Mutation: leave a subnet out of SPECIAL_V4, or look at the first groups of IPv6 only.
  it.each([
    '0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255',
    '192.168.1.1', '192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
    '::', '::1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '2001:db8::1', '2001::1', '2001:10::1', '3fff::1', '100::1', '5f00::1',
    '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe', '::127.0.0.1', '::7f00:1',
    '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::1', '2002:7f00:1::', '2002:a00:1::1', '2002:a9fe:a9fe::', '2002:c0a8:101::1',
    '', 'localhost', '127.1', '1.2.3',
  ])('refuses %s', (address) => expect(isPrivateAddress(address)).toBe(true));

  it.each([
    '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '169.253.255.255', '192.167.255.255', '223.255.255.255',
    '2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b::808:808', '2002:808:808::1',
  ])('lets %s pass', (address) => expect(isPrivateAddress(address)).toBe(false));
});

const judge = (url: string, resolve: ResolveName = () => Promise.resolve([{ address: '9.9.9.9', family: 4 }]), allow = '0') =>
  new ReceiverAddress(readConfig({ DATABASE_URL: 'postgresql://h/d', REDIS_URL: 'redis://h', QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: allow }), resolve).judge(new URL(url));

describe('a receiver', () => {
  // Mutation: judge names only, and let literal addresses through.
  it.each([
    'https://127.0.0.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://127.1/', 'https://[::1]/', 'https://[::ffff:169.254.169.254]/', 'https://[fd00::1]:8443/x',
  ])('is refused as %s, however its address is spelled', async (url) => {
    await expect(judge(url)).rejects.toThrow('which is not a public address');
  });

  // Mutation: judge the first address of a name only.
  it('is refused when any address of its name is private', async () => {
    const mixed: ResolveName = () => Promise.resolve([{ address: '9.9.9.9', family: 4 }, { address: '::1', family: 6 }]);
    await expect(judge('https://mixed.example/', mixed)).rejects.toThrow('leads to ::1');
  });

  it('is refused over plain HTTP, with a user in its URL, and without an address', async () => {
    await expect(judge('http://hooks.example/')).rejects.toThrow('must be an https URL');
    await expect(judge('https://user:pw@hooks.example/')).rejects.toThrow('must not contain a user');
    await expect(judge('https://user@hooks.example/', undefined, '1')).rejects.toThrow('must not contain a user');
    await expect(judge('https://nowhere.example/', () => Promise.reject(new Error('ENOTFOUND')))).rejects.toThrow('does not resolve');
    await expect(judge('https://empty.example/', () => Promise.resolve([]))).rejects.toThrow('does not resolve');
  });

  it('may be private and plain where the operator of this machine allows it', async () => {
    expect(await judge('http://127.0.0.1:8080/', undefined, '1')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });
});
