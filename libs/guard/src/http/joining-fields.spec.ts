import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Answer } from './answer';

type Fields = readonly (readonly [string, string])[];
const DECISION: Fields = [['RateLimit-Policy', '"a";q=1;w=1'], ['RateLimit', '"a";r=0;t=1'], ['Retry-After', '1']];

/** What a client reads of an answer whose raw response `write` ends, after each of `decisions` was put on it as on Fastify's reply. */
async function answered(decisions: readonly Fields[], write: (raw: ServerResponse) => void): Promise<Record<string, string>> {
  const server = createServer((_request, raw) => {
    for (const fields of decisions) new Answer({ raw, header: () => undefined, getHeader: () => undefined }).set(fields);
    write(raw);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await answer.arrayBuffer();
    return Object.fromEntries(answer.headers);
  } finally {
    server.close();
  }
}

describe('fields that join the head of an answer', () => {
  // Mutation: set only where writeHead is given an object.
  it.each<[string, (raw: ServerResponse) => void]>([
    ['Node itself at the first byte', (raw) => raw.end('x')],
    ['a stream', (raw) => { raw.write('x'); raw.end(); }],
    ['flushHeaders', (raw) => { raw.flushHeaders(); raw.end(); }],
    ['writeHead without headers', (raw) => raw.writeHead(204).end()],
    ['writeHead with headers', (raw) => raw.writeHead(200, { 'X-Own': 'own' }).end()],
    ['writeHead with a reason', (raw) => raw.writeHead(200, 'Fine', { 'X-Own': 'own' }).end()],
    ['writeHead with a list', (raw) => raw.writeHead(200, ['X-Own', 'own']).end()],
    ['writeHead after setHeader', (raw) => raw.setHeader('X-Other', 'other').writeHead(200, { 'X-Own': 'own' }).end()],
  ])('are on it when its head is written by %s', async (_how, write) => {
    const fields = await answered([DECISION], write);
    expect(fields).toMatchObject({ 'ratelimit-policy': '"a";q=1;w=1', ratelimit: '"a";r=0;t=1', 'retry-after': '1' });
  });

  it('give way to what the service itself says, in any case', async () => {
    const fields = await answered([DECISION], (raw) => raw.writeHead(200, { 'retry-after': '9' }).end());
    expect(fields['retry-after']).toBe('9');
  });

  it('are those of the last decision, none left of the one before', async () => {
    const fields = await answered([DECISION, [['RateLimit-Policy', '"b";q=2;w=1']]], (raw) => raw.writeHead(200, {}).end());
    expect(fields['ratelimit-policy']).toBe('"b";q=2;w=1');
    expect([fields['ratelimit'], fields['retry-after']]).toEqual([undefined, undefined]);
  });

  it('stay beside those of a refusal that no limit caused', async () => {
    const fields = await answered([DECISION, [['WWW-Authenticate', 'ApiKey']]], (raw) => raw.writeHead(401, {}).end());
    expect(fields).toMatchObject({ 'ratelimit-policy': '"a";q=1;w=1', 'www-authenticate': 'ApiKey' });
  });
});
