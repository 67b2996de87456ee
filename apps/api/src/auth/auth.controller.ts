import { Controller, Inject, Req, Res } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput, type WhoAmI } from '@quotaplane/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { requireOwnOrigin } from './csrf';
import { clearSessionCookie, readSessionCookie, requireCookieSafe, setSessionCookie } from './session-cookie';
import { SessionsService } from './sessions.service';
import { SignInService } from './sign-in.service';

@Controller()
export class AuthController {
  constructor(
    @Inject(SignInService) private readonly signIns: SignInService,
    @Inject(SessionsService) private readonly sessions: SessionsService,
  ) {}

  @Endpoint(routes.signIn)
  async signIn(
    @Input() input: RouteInput<typeof routes.signIn>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouteOutput<typeof routes.signIn>> {
    requireCookieSafe(request);
    requireOwnOrigin(request);
    const { value, caller } = await this.signIns.signIn(input.body, request.ip, readSessionCookie(request));
    setSessionCookie(request, reply, value);
    return whoAmIFrom(caller);
  }

  @Endpoint(routes.signOut)
  async signOut(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const cookie = readSessionCookie(request);
    if (cookie !== undefined) await this.sessions.end(cookie);
    clearSessionCookie(request, reply);
  }

  @Endpoint(routes.whoAmI)
  whoAmI(@CurrentActor() caller: Caller): RouteOutput<typeof routes.whoAmI> {
    return whoAmIFrom(caller);
  }
}

function whoAmIFrom(caller: Caller): WhoAmI {
  return {
    kind: caller.kind === 'operator' ? 'operator' : 'token',
    id: caller.id,
    name: caller.name,
    email: caller.email,
    role: caller.role,
    rights: [...caller.rights],
    tenant: caller.boundTenant,
    idleExpiresAt: caller.session?.idleExpiresAt.toISOString() ?? null,
    expiresAt: caller.session?.expiresAt.toISOString() ?? null,
  };
}
