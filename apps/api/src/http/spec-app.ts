import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { HttpVerb } from '@quotaplane/contracts';
import { AppModule } from '../app.module';
import { readConfig } from '../config/app-config';
import type { Clock } from '../config/clock';
import { createHttpApp } from './http-server';

/** Bootstrap token and first operator of the booted app, for specs. */
export const ADMIN_TOKEN = 'spec-bootstrap-token-1';
export const ADMIN_EMAIL = 'admin@example.com';
export const ADMIN_PASSWORD = 'correct horse battery';

export interface SpecAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
  /** The parsed body; empty where there is none. */
  readonly body: SpecBody;
}

/** Members that specs read of any answer. */
export interface SpecBody {
  readonly id?: string;
  readonly slug?: string;
  readonly secret?: string;
  readonly changeId?: string;
  readonly version?: number;
  readonly number?: number;
  readonly code?: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly verified?: boolean;
  readonly nextCursor?: string | null;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly faults?: readonly { readonly chain: string; readonly seq: string; readonly detail: string }[];
  readonly items?: readonly SpecBody[];
  readonly checks?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

export interface SpecRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, with Content-Type application/json. */
  readonly rawBody?: string;
  readonly ifMatch?: number;
  readonly token?: string | null;
  readonly remoteAddress?: string;
}

export interface SpecApp {
  readonly app: NestFastifyApplication;
  /** Sends one request through the whole HTTP stack, as the admin token unless told otherwise. */
  call(method: HttpVerb, path: string, request?: SpecRequest): Promise<SpecAnswer>;
  stop(): Promise<void>;
}

export interface SpecAppOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** Boots the whole HTTP process over real stores, without a port. Specs only. */
export async function startSpecApp(stores: { databaseUrl: string; redisUrl: string }, options: SpecAppOptions = {}): Promise<SpecApp> {
  const config = readConfig({
    NODE_ENV: 'test', DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl, QUOTAPLANE_BOOTSTRAP_TOKEN: ADMIN_TOKEN,
    QUOTAPLANE_ADMIN_EMAIL: ADMIN_EMAIL, QUOTAPLANE_ADMIN_PASSWORD: ADMIN_PASSWORD, QUOTAPLANE_DB_ACQUIRE_MS: '10000', ...options.env,
  });
  const app = await createHttpApp(AppModule.with(config, options.clock), config);
  await app.init();
  return { app, stop: () => app.close(), call: (method, path, request = {}) => send(app, method, path, request) };
}

async function send(app: NestFastifyApplication, method: HttpVerb, path: string, request: SpecRequest): Promise<SpecAnswer> {
  const { token = ADMIN_TOKEN, ifMatch, body, rawBody, remoteAddress } = request;
  const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await app.inject({
    method,
    url: path,
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
      ...request.headers,
    },
    ...(payload === undefined ? {} : { payload }),
  });
  const isJson = /(?<!nd)json/.test(String(answer.headers['content-type'] ?? '')) && answer.body !== '';
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: isJson ? (JSON.parse(answer.body) as SpecBody) : {} };
}
