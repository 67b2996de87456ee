import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { hintOf, newSecret, signedHeaders } from './signature';

const message = { id: '0b8f4d0c-6a67-4c1e-9a39-1c1d3f4f7c11', timestampS: Math.floor(Date.now() / 1000), body: '{"type":"tenant.limited","data":{"tenant":"ä"}}' };

describe('signatures, verified by the package standardwebhooks', () => {
  it('is what an independent implementation makes of the same message', () => {
    const secret = newSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const headers = signedHeaders(message, [secret]);
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(message.id, new Date(message.timestampS * 1000), message.body));
    expect(new Webhook(secret).verify(message.body, headers)).toEqual(JSON.parse(message.body));
  });

  // Mutation: sign with the newest secret only.
  it('verifies with either secret during a rotation, and with no third', () => {
    const [fresh, former] = [newSecret(), newSecret()];
    const headers = signedHeaders(message, [fresh, former]);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [fresh, former]) expect(() => new Webhook(secret).verify(message.body, headers)).not.toThrow();
    expect(() => new Webhook(newSecret()).verify(message.body, headers)).toThrow();
  });

  // Mutation: leave the id or the time out of what is signed.
  it('breaks when the body, the id or the time is another one', () => {
    const secret = newSecret();
    const headers = signedHeaders(message, [secret]);
    const verifier = new Webhook(secret);
    expect(() => verifier.verify(`${message.body} `, headers)).toThrow();
    expect(() => verifier.verify(message.body, { ...headers, 'webhook-id': 'another' })).toThrow();
    expect(() => verifier.verify(message.body, { ...headers, 'webhook-timestamp': String(message.timestampS + 1) })).toThrow();
  });

  it('shows the end of a secret only', () => expect(hintOf('whsec_abcdefgh')).toBe('efgh'));
});
