import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JOURNAL_BODY_BYTES, type JournalDocument } from '@quotaplane/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { postJournal } from './post-journal';

const cell = { tenant: 'acme', meter: 'requests', period: '2026-11-01', part: 1, class: 'default', generation: 1, admitted: 1, refunded: 0, degraded: 0, doubtful: 0, degradedByHour: [] };
const document: JournalDocument = { version: 1, incarnation: '7d444840-9dc0-41d2-a86e-3c1f5a1d5f3a', service: 'echo', sequence: 3, at: '2026-11-30T12:00:00.000Z', closed: true, counts: [cell] };
const ACCEPTED = JSON.stringify({ accepted: 1, refused: [], changeId: '7d444840-9dc0-41d2-a86e-3c1f5a1d5f3a', newer: 'member' });

let server: Server;
const asked: { url: string; authorization: string; bytes: number }[] = [];
const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (piece: Buffer) => { bytes += piece.length; });
    request.on('end', () => {
      asked.push({ url: request.url ?? '', authorization: request.headers.authorization ?? '', bytes });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
};
afterEach(async () => {
  asked.length = 0;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('postJournal', () => {
  it('posts with the token, under the path of the address it is given, and answers what was accepted', async () => {
    const url = await serve((_, response) => response.end(ACCEPTED));
    expect(await postJournal({ url, token: 'secret', document, timeoutMs: 5_000 })).toEqual({ isPosted: true, accepted: 1, refused: [] });
    expect(asked).toMatchObject([{ url: '/base/v1/journals', authorization: 'Bearer secret' }]);
  });

  // Mutation: one attempt, or a third.
  it('tries once more after an answer of 5xx, and no third time', async () => {
    const url = await serve((_, response) => (asked.length === 1 ? response.writeHead(503).end('away') : response.end(ACCEPTED)));
    expect(await postJournal({ url, token: 'secret', document, timeoutMs: 5_000 })).toMatchObject({ isPosted: true });
    asked.length = 0;
    server.removeAllListeners('request');
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      asked.push({ url: '', authorization: '', bytes: 0 });
      response.writeHead(503).end('still away');
    });
    expect(await postJournal({ url, token: 'secret', document, timeoutMs: 5_000 })).toMatchObject({ isPosted: false, detail: expect.stringContaining('503: still away') as string });
    expect(asked).toHaveLength(2);
  });

  it('does not repeat what was refused, and says why', async () => {
    const url = await serve((_, response) => response.writeHead(403).end('no'));
    expect(await postJournal({ url, token: 'secret', document, timeoutMs: 5_000 })).toMatchObject({ isPosted: false, detail: expect.stringContaining('403: no') as string });
    expect(asked).toHaveLength(1);
  });

  // Mutation: give each attempt the whole time.
  it('is back in time where nobody answers, and never throws', async () => {
    const url = await serve(() => undefined);
    const startedAt = performance.now();
    expect(await postJournal({ url, token: 'secret', document, timeoutMs: 200 })).toMatchObject({ isPosted: false });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(await postJournal({ url: 'no address', token: 'secret', document, timeoutMs: 200 })).toMatchObject({ isPosted: false });
  });

  it('stays below the bound of the route with the longest names', async () => {
    const name = 'x'.repeat(63);
    const url = await serve((_, response) => response.end(ACCEPTED));
    const counts = Array.from({ length: 10_001 }, () => ({ ...cell, tenant: name, meter: name, class: name, admitted: Number.MAX_SAFE_INTEGER, degraded: Number.MAX_SAFE_INTEGER }));
    await postJournal({ url, token: 'secret', document: { ...document, counts }, timeoutMs: 20_000 });
    expect(asked).toHaveLength(3);
    for (const { bytes } of asked) expect(bytes).toBeLessThan(JOURNAL_BODY_BYTES);
  });
});
