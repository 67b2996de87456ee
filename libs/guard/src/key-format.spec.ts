import { describe, expect, it } from 'vitest';
import { generateSecret, hashSecret, hasValidChecksum, isDemoKey } from './key-format';

describe('the key format', () => {
  it('makes secrets of 256 random bits that carry their own checksum', () => {
    const secrets = Array.from({ length: 50 }, () => generateSecret('qpk_'));
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^qpk_[0-9A-Za-z]{49}$/);
      expect(hasValidChecksum(secret)).toBe(true);
    }
    expect(hasValidChecksum(generateSecret('qpt_'))).toBe(true);
  });

  it('refuses a secret with any one character changed', () => {
    const secret = generateSecret('qpk_');
    for (let at = 0; at < secret.length; at += 1) {
      const other = secret[at] === 'a' ? 'b' : 'a';
      expect(hasValidChecksum(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false);
    }
    for (const text of ['', 'qpk_', 'demo-acme', `${secret}x`, secret.slice(1)]) expect(hasValidChecksum(text)).toBe(false);
  });

  it('knows demo keys by their form', () => {
    expect(isDemoKey('demo-acme')).toBe(true);
    for (const text of ['demo-', 'demo-A', 'xdemo-acme', `demo-${'a'.repeat(64)}`]) expect(isDemoKey(text)).toBe(false);
  });

  it('hashes to sha256 in hex', () => {
    expect(hashSecret('demo-acme')).toMatch(/^[0-9a-f]{64}$/);
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
