import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_JSON } from '@quotaplane/guard';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bodyOf, statusOf } from './problem.filter';

const STATUS_BY_CODE: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Problems of requests that reach no route and no filter: a URL or a message that cannot be parsed, headers past Node's cap. */
export const unroutedProblems = {
  frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply): void => {
    const status = statusOf(error);
    void reply.code(status).header('content-type', PROBLEM_JSON).send(JSON.stringify(bodyOf(error, status)));
  },

  clientErrorHandler: (error: Error & { readonly code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
    const body = JSON.stringify(bodyOf(error, status));
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, `content-type: ${PROBLEM_JSON}`, `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
    if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    socket.destroy(error);
  },
};
