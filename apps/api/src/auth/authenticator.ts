import { Inject, Injectable } from '@nestjs/common';
import { DomainError, right, tokenBinding } from '@quotaplane/contracts';
import { hashSecret, hasValidChecksum } from '@quotaplane/guard';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { ApiTokenRow } from '../database/rows';
import type { Caller } from '../http/caller';
import { requireSameSite } from './csrf';
import { readSessionCookie } from './session-cookie';
import { SessionsService } from './sessions.service';

/** Finds out who asks: a bearer token first, else the console's session. Both are looked up in Postgres each time, so that an end acts at once. */
@Injectable()
export class Authenticator {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(SessionsService) private readonly sessions: SessionsService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @throws {DomainError} unauthenticated; csrf_refused for a session's write from elsewhere; forbidden for a token without binding */
  async authenticate(request: FastifyRequest): Promise<Caller> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.byToken(authorization);
    const cookie = readSessionCookie(request);
    const caller = cookie === undefined ? undefined : await this.sessions.find(cookie);
    if (!caller) throw unauthenticated();
    requireSameSite(request);
    return caller;
  }

  private async byToken(authorization: string): Promise<Caller> {
    if (!/^Bearer /i.test(authorization)) throw new DomainError('unauthenticated', 'Send the token as "Authorization: Bearer <token>"');
    const secret = /^Bearer +(\S{1,512})$/i.exec(authorization)?.[1];
    if (secret === undefined || isGarbage(secret)) throw unauthenticated();
    const token = await this.prisma.apiToken.findUnique({ where: { secretHash: hashSecret(secret) } });
    if (!token || token.revokedAt || (token.expiresAt && token.expiresAt.getTime() <= this.clock.now())) throw unauthenticated();
    return callerOf(token);
  }
}

/** A bootstrap token may have any form; one that claims ours must also have its checksum. */
function isGarbage(secret: string): boolean {
  return secret.startsWith('qpt_') && !hasValidChecksum(secret);
}

/** A token whose binding is missing or unreadable is refused everywhere: nothing never means everything (C084). */
function callerOf(token: ApiTokenRow): Caller {
  const binding = tokenBinding.safeParse(token.binding);
  if (!binding.success) throw new DomainError('forbidden', 'This token is bound to nothing; create another with a binding');
  return {
    kind: 'token', id: token.id, name: token.name, email: null, role: null, session: null,
    rights: new Set(right.array().parse(token.scopes)),
    boundTenant: binding.data.kind === 'tenant' ? binding.data.tenant : null,
  };
}

function unauthenticated(): DomainError {
  return new DomainError('unauthenticated', 'Sign in, or send a valid API token');
}
