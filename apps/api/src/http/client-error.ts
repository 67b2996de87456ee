import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { DomainError, REQUEST_ID_HEADER } from '@quotaplane/contracts';
import { problemOf } from './problem';

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 kB',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** Answers as a problem what is no HTTP request, came too slowly or has too large headers: no hook or route ever sees it. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const requestId = randomUUID();
  const problem = problemOf(new DomainError('malformed', DETAILS[error.code ?? ''] ?? 'The request cannot be parsed'), requestId);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} Bad Request`, 'Content-Type: application/problem+json', `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store', `${REQUEST_ID_HEADER}: ${requestId}`, 'Connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy(error);
}
