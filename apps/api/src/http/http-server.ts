import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import { ConsoleLogger, Logger, type Type, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DomainError, REQUEST_ID_HEADER } from '@quotaplane/contracts';
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import type { AppConfig } from '../config/app-config';
import { answerClientError } from './client-error';
import { acceptCloudEvents } from './cloud-events';
import { serveConsole } from './console-files';
import { measureRequests } from './http-metrics';
import { sendProblem } from './problem.filter';
import { requestContext } from './request-context';
import { setSecurityHeaders } from './security-headers';

/** Largest body of a request, 256 kB, unless its contract says otherwise. */
export const BODY_LIMIT_BYTES = 262_144;

/**
 * The HTTP process around `module`: parsers, request ids, security headers, metrics and the console. Not listening yet;
 * specs use `app.inject`.
 */
export async function createHttpApp(module: Type | DynamicModule, config: AppConfig): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter(serverOptions(config));
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new ConsoleLogger({ logLevels: ['error', 'warn'], colors: false }),
  });
  const instance = adapter.getInstance() as unknown as FastifyInstance;
  instance.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id);
    if (request.url.startsWith('/v1')) void reply.header('Cache-Control', 'no-store');
    done();
  });
  // After the body has been read: its stream events would lose the context.
  instance.addHook('preHandler', (request, _reply, done) => requestContext.run({ requestId: request.id }, done));
  await setSecurityHeaders(instance);
  await instance.register(cookie);
  acceptJsonOnly(instance);
  applyBodyLimits(instance);
  measureRequests(instance);
  await serveConsole(instance, config.consoleDir);
  return app;
}

function serverOptions(config: AppConfig): FastifyServerOptions {
  const logger = new Logger('Http');
  return {
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // A caller's own id is kept, so that its log and ours can be held together.
    genReqId: ({ headers }) => {
      const own = headers['x-request-id'];
      return typeof own === 'string' && /^[\w.:-]{1,128}$/.test(own) ? own : randomUUID();
    },
    routerOptions: { maxParamLength: 1_000 },
    clientErrorHandler: answerClientError,
    // The router refuses a malformed URL before any hook has run.
    frameworkErrors: (error, request, reply) => sendProblem(reply.header(REQUEST_ID_HEADER, request.id), error, request.id, logger),
  };
}

/** A contract may allow a larger body than the default. Routes are registered later, when the application starts. */
function applyBodyLimits(instance: FastifyInstance): void {
  instance.addHook('onRoute', (route) => {
    const { bodyLimitBytes } = (route.config ?? {}) as { readonly bodyLimitBytes?: number };
    if (bodyLimitBytes !== undefined) route.bodyLimit = bodyLimitBytes;
  });
}

/** JSON and nothing else; an empty body is none, whatever its Content-Type. */
function acceptJsonOnly(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  const parseJson = instance.getDefaultJsonParser('error', 'error');
  const parse = (request: FastifyRequest, text: string, done: (error: Error | null, body?: unknown) => void): void => {
    if (text.length === 0) done(null, undefined);
    else {
      parseJson(request, text, (error, value) => {
        if (error) done(new DomainError('malformed', 'The JSON body cannot be parsed', {}, { cause: error }));
        else done(null, value);
      });
    }
  };
  instance.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => parse(request, String(body), done));
  acceptCloudEvents(instance, parse);
}
