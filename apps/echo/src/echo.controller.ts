import { Readable } from 'node:stream';
import { All, Body, Controller, Get, HttpCode, InternalServerErrorException, NotFoundException, Post, Query, Req, StreamableFile, UnauthorizedException, UseGuards } from '@nestjs/common';
import { Cost, EndpointClass, LimitConcurrency, QuotaGuard, Subject, type GuardedRequest } from '@quotaplane/guard';
import { InvalidRequestException } from './problem.filter';

/** The one password that signs in; every other is wrong. */
const DEMO_PASSWORD = 'echo-demo';
/** Longest time that a stream may be held, in ms. */
const STREAM_MAX_MS = 60_000;
/** Levels of a body that is echoed. */
const DEPTH_MAX = 32;

const bodyMember = (body: unknown, name: string): unknown => (typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined);

/** A body that names no items costs one unit; its handler refuses it. */
const itemCount = ({ body }: GuardedRequest): number => {
  const items = bodyMember(body, 'items');
  return Array.isArray(items) ? items.length : 1;
};

/** One account however it is typed: outer blanks and letter case do not make another. */
const accountOf = ({ body }: GuardedRequest): string | undefined => {
  const email = bodyMember(body, 'email');
  return typeof email === 'string' ? email.trim().toLowerCase() : undefined;
};

/** The smallest guarded service: one handler for each way in which a limit can apply. */
@Controller()
@UseGuards(QuotaGuard)
export class EchoController {
  @Get('echo')
  read(@Req() request: GuardedRequest): object {
    return { method: request.method, url: request.url, query: request.query };
  }

  @Post('echo')
  @HttpCode(200)
  write(@Req() request: GuardedRequest, @Body() body: unknown): object {
    // Parsed without recursion, but written back with it.
    if (isDeeperThan(body, DEPTH_MAX)) throw new InvalidRequestException([{ pointer: '', detail: `must not be nested deeper than ${DEPTH_MAX} levels` }]);
    return { method: request.method, url: request.url, body };
  }

  @Get('search')
  @EndpointClass('search')
  search(@Query('q') query?: string): object {
    return { query: query ?? '', hits: [] };
  }

  @Post('bulk')
  @HttpCode(200)
  @EndpointClass('bulk')
  @Cost(itemCount)
  bulk(@Body() body: unknown): object {
    const items = bodyMember(body, 'items');
    if (!Array.isArray(items)) throw new InvalidRequestException([{ pointer: '/items', detail: 'must be a list' }]);
    return { accepted: items.length };
  }

  @Post('login')
  @HttpCode(200)
  @EndpointClass('login', { failMode: 'closed' })
  @Subject('account', accountOf)
  login(@Body() body: unknown): object {
    const errors = ['email', 'password']
      .filter((name) => typeof bodyMember(body, name) !== 'string')
      .map((name) => ({ pointer: `/${name}`, detail: 'must be a text' }));
    if (errors.length > 0) throw new InvalidRequestException(errors);
    if (bodyMember(body, 'password') !== DEMO_PASSWORD) throw new UnauthorizedException('wrong e-mail or password');
    return { signedIn: true };
  }

  @Get('stream')
  @EndpointClass('stream')
  @LimitConcurrency()
  stream(@Query('ms') text = '0'): StreamableFile {
    const holdMs = Number(text);
    if (!/^\d{1,5}$/.test(text) || holdMs > STREAM_MAX_MS) {
      throw new InvalidRequestException([{ pointer: '/query/ms', detail: `must be a whole number from 0 to ${STREAM_MAX_MS}` }]);
    }
    return new StreamableFile(Readable.from(held(holdMs)), { type: 'text/plain' });
  }

  @Get('fail')
  fail(): never {
    throw new InternalServerErrorException('this route always fails');
  }

  @All('*')
  other(): never {
    throw new NotFoundException('no such route');
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

async function* held(holdMs: number): AsyncGenerator<string> {
  yield 'begin\n';
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  yield 'end\n';
}
