import {
  Body, Controller, Get, HttpCode, Injectable, Module, Post, UnauthorizedException, UseGuards, type CanActivate, type ExecutionContext, type INestApplication,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointClass, QuotaGuard, QuotaplaneModule, QuotaProblemException, SkipQuota, Subject, type GuardedRequest, type Identity, type QuotaProblem } from '../index';
import { ADAPTERS } from './guarded-app';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

type SignedInRequest = GuardedRequest & { user?: { readonly id: string; readonly tenant: string } };

/** Puts the user of a session on the request, as passport's guards do. */
@Injectable()
class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SignedInRequest>();
    const [tenant, id] = String(request.headers['x-session'] ?? '').split('/');
    if (tenant && id) request.user = { tenant, id };
    return true;
  }
}

/** Checks passwords: a sign-in that fails never reaches a handler. */
@Injectable()
class PasswordGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context.switchToHttp().getRequest<{ body?: { password?: string } }>();
    if (body?.password !== 'right') throw new UnauthorizedException();
    return true;
  }
}

/** Who calls is in the path, and a denial is of the service's own making. */
@Injectable()
class PathQuotaGuard extends QuotaGuard {
  protected override identify({ params }: GuardedRequest): Identity {
    return { kind: 'tenant', tenant: String(params['tenant']) };
  }

  protected override deny(problem: QuotaProblem, fields: Readonly<Record<string, string>>): never {
    throw new QuotaProblemException({ ...problem, title: 'Slow down, please' }, fields);
  }
}

@Controller()
class MixedController {
  @Get('mine')
  mine(): object {
    return {};
  }

  @Post('login')
  @HttpCode(200)
  @EndpointClass('login')
  @Subject('account', ({ body }) => (body as { email?: string } | undefined)?.email)
  @UseGuards(PasswordGuard)
  login(@Body() body: unknown): unknown {
    return body;
  }

  @Get('tenants/:tenant/report')
  @UseGuards(PathQuotaGuard)
  report(): object {
    return {};
  }
}

@Controller('operations')
@SkipQuota()
class OperationsController {
  @Get('health')
  health(): string {
    return 'ok';
  }

  @Get('costly')
  @SkipQuota(false)
  costly(): object {
    return {};
  }
}

@Module({})
class MixedModule {}

describe.each(ADAPTERS)('the guard among others on %s', (adapter) => {
  let platform: SpecPlatform;
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    platform = await startPlatform();
    const identity = { resolve: ({ user }: SignedInRequest): Identity => (user ? { kind: 'tenant', tenant: user.tenant, userId: user.id } : { kind: 'anonymous' }) };
    const module = {
      module: MixedModule,
      imports: [QuotaplaneModule.forRoot({ ...platform.options, identity })],
      controllers: [MixedController, OperationsController],
      // In this order: the guard sees whom the session belongs to.
      providers: [{ provide: APP_GUARD, useClass: SessionGuard }, { provide: APP_GUARD, useExisting: QuotaGuard }],
    };
    app = await NestFactory.create(module, adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
    await platform.tenantWith('anonymous', { limits: [limitOf({ name: 'login-account', scope: 'subject:account', endpointClass: 'login', algorithm: 'fixed-window', limit: 5 })] });
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });

  const statuses = async (count: number, path: string, init: RequestInit): Promise<number[]> => {
    const found: number[] = [];
    for (let call = 0; call < count; call += 1) found.push((await fetch(`${url}${path}`, init)).status);
    return found;
  };

  // Fails when the guard runs before the guards registered ahead of it.
  it('comes after an authentication guard registered before it, and counts its user', async () => {
    await platform.tenantWith('users', { limits: [limitOf({ name: 'user', scope: 'user', limit: 1, burst: 2 })] });
    expect(await statuses(3, '/mine', { headers: { 'X-Session': 'users/ann' } })).toEqual([200, 200, 429]);
    expect(await statuses(1, '/mine', { headers: { 'X-Session': 'users/bob' } })).toEqual([200]);
  });

  // Mutation: a failed sign-in is not counted, for the guard stands behind the one that refuses it.
  it('C066 comes before an authentication guard of the route, and limits failed sign-ins', async () => {
    const signIn = (password: string): RequestInit => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: 'ann@example.com', password }) });
    expect(await statuses(6, '/login', signIn('wrong'))).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await statuses(1, '/login', signIn('right'))).toEqual([429]);
  });

  // Mutation: the global guard decides before the route's own, or both charge.
  it('C067 gives way to a guard class of the route’s own', async () => {
    await platform.tenantWith('path', { limits: [limitOf({ limit: 1, burst: 2 })] });
    expect(await statuses(2, '/tenants/path/report', {})).toEqual([200, 200]);
    const denied = await fetch(`${url}/tenants/path/report`);
    expect(denied.status).toBe(429);
    expect(denied.headers.get('ratelimit-policy')).toBe('"per-minute";q=1;w=60;qp-burst=2');
    expect(await denied.json()).toMatchObject({ title: 'Slow down, please', code: 'rate_limited' });
  });

  it('leaves out what says so, and takes back in what says so within', async () => {
    await platform.tenantWith('opted', { limits: [limitOf()] });
    const headers = { 'X-Session': 'opted/ann' };
    expect((await fetch(`${url}/operations/health`, { headers })).headers.has('ratelimit-policy')).toBe(false);
    expect((await fetch(`${url}/operations/costly`, { headers })).headers.has('ratelimit-policy')).toBe(true);
  });
});
