import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** Characters of a secret that its owner can tell it by. */
const HINT_LENGTH = 4;

/** `whsec_` and the base64 of 32 random bytes. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export const hintOf = (secret: string): string => secret.slice(-HINT_LENGTH);

/** What is signed: the id and the time too, so that neither can be changed and an old delivery cannot be played again. */
export interface SignedMessage {
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

/**
 * Headers of a delivery by Standard Webhooks.
 * @param secrets newest first; each signs, so that a receiver verifies with the former one as well during a rotation
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const signedHeaders = (message: SignedMessage, secrets: readonly string[]): Record<string, string> => ({
  'webhook-id': message.id,
  'webhook-timestamp': String(message.timestampS),
  'webhook-signature': secrets.map((secret) => `v1,${signatureOf(message, secret)}`).join(' '),
});

const signatureOf = ({ id, timestampS, body }: SignedMessage, secret: string): string =>
  createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64')).update(`${id}.${timestampS}.${body}`).digest('base64');
