import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `qpk_` opens the API keys of tenants, `qpt_` the tokens of the control plane. */
export type SecretPrefix = 'qpk_' | 'qpt_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 characters carry 256 bits. */
const RANDOM_LENGTH = 43;
/** 6 base62 characters carry a crc32. */
const CHECKSUM_LENGTH = 6;
const SECRET = new RegExp(`^(?:qpk_|qpt_)[0-9A-Za-z]{${RANDOM_LENGTH}}[0-9A-Za-z]{${CHECKSUM_LENGTH}}$`);
/** Keys of the demo data: short, well known, and therefore never made by {@link generateSecret}. */
const DEMO_KEY = /^demo-[a-z0-9-]{1,63}$/;
/** Largest multiple of 62 that a byte can hold; bytes above it would favour the first letters. */
const UNBIASED_BYTES = 248;

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    checksum = ALPHABET.charAt(rest % ALPHABET.length) + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return checksum;
};

/** A fresh secret, `<prefix><43 random base62 characters><6 characters of checksum>`. Show it once and keep only {@link hashSecret} of it. */
export function generateSecret(prefix: SecretPrefix): string {
  let body: string = prefix;
  while (body.length < prefix.length + RANDOM_LENGTH) {
    const byte = randomBytes(1)[0] ?? UNBIASED_BYTES;
    if (byte < UNBIASED_BYTES) body += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return body + checksumOf(body);
}

/** Whether a text has the form and checksum of a secret, so that garbage and typing errors cost no look-up. Says nothing about its validity. */
export function hasValidChecksum(secret: string): boolean {
  if (!SECRET.test(secret)) return false;
  return checksumOf(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH);
}

/** Whether a secret belongs to the demo data, whose keys carry no checksum. */
export function isDemoKey(secret: string): boolean {
  return DEMO_KEY.test(secret);
}

/** sha256 of a secret in hex: what the platform stores and looks up. A secret has 256 random bits, so that it needs no salt and no slow hash. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
