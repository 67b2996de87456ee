import { createHash } from 'node:crypto';
import { Controller, Get, Header, Inject, Req, Res } from '@nestjs/common';
import { routes, type RouteOutput } from '@quotaplane/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Endpoint, OpenRoute } from '../http/endpoint.decorator';
import { COPYABLE_CLIENT } from './copyable-client';
import { LimitsService } from './limits.service';
import { limitsPage } from './page/limits-page';
import { LIMITS_STYLE } from './page/limits-style';

/** Longest that a copy is used without asking, s. A published change shows to everybody within it. */
const MAX_AGE_SECONDS = 30;

/** What API consumers read; open to everyone. */
@Controller()
export class LimitsController {
  constructor(@Inject(LimitsService) private readonly limits: LimitsService) {}

  @Endpoint(routes.limitsJson)
  async json(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<RouteOutput<typeof routes.limitsJson>> {
    const { limits, validForMs } = await this.limits.read();
    // Public figures: a page of any origin may show them.
    void reply.header('Access-Control-Allow-Origin', '*');
    send(request, reply, { type: 'application/json; charset=utf-8', text: JSON.stringify(limits), validForMs });
    return limits;
  }

  @Get('/limits')
  @OpenRoute()
  async page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { limits, validForMs } = await this.limits.read();
    send(request, reply, { type: 'text/html; charset=utf-8', text: limitsPage(limits), validForMs });
  }

  @Get('/limits/limits.css')
  @OpenRoute()
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(): string {
    return LIMITS_STYLE;
  }

  @Get('/limits/quota-fetch.js')
  @OpenRoute()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  client(): string {
    return COPYABLE_CLIENT;
  }
}

interface Representation {
  readonly type: string;
  readonly text: string;
  readonly validForMs: number;
}

/** Answers with the text, or with 304 where the caller has it already. */
function send(request: FastifyRequest, reply: FastifyReply, { type, text, validForMs }: Representation): void {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const maxAge = Math.max(0, Math.min(MAX_AGE_SECONDS, Math.floor(validForMs / 1000)));
  void reply.header('ETag', etag).header('Cache-Control', `public, max-age=${maxAge}, must-revalidate`);
  if (isHeld(request.headers['if-none-match'], etag)) void reply.code(304).send();
  else void reply.type(type).send(text);
}

/** Weak comparison (RFC 9110, 13.1.2): a proxy may have weakened the tag. */
const isHeld = (header: string | undefined, etag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
