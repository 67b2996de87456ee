import { SESSION_COOKIE, SESSION_COOKIE_INSECURE, DomainError } from '@quotaplane/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ABSOLUTE_MS } from './sessions.service';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;
const OPTIONS = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

/** The session cookie's value under the name that this connection may use: `__Host-` over HTTPS, the plain name on loopback only. */
export function readSessionCookie(request: FastifyRequest): string | undefined {
  return request.cookies[isSecure(request) ? SESSION_COOKIE : SESSION_COOKIE_INSECURE];
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, value: string): void {
  const secure = isSecure(request);
  void reply.setCookie(secure ? SESSION_COOKIE : SESSION_COOKIE_INSECURE, value, { ...OPTIONS, secure, maxAge: ABSOLUTE_MS / 1000 });
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  const secure = isSecure(request);
  void reply.clearCookie(secure ? SESSION_COOKIE : SESSION_COOKIE_INSECURE, { ...OPTIONS, secure });
}

/** @throws {DomainError} forbidden over plain HTTP from another machine, where anyone on the way could read the cookie */
export function requireCookieSafe(request: FastifyRequest): void {
  if (isSecure(request) || LOOPBACK.test(request.hostname)) return;
  throw new DomainError('forbidden', 'Sign in over HTTPS; plain HTTP is for this machine only');
}

function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}
