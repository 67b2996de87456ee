import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module, type INestApplication } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { Args, GraphQLModule, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { ExpressAdapter } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Cost, LimitConcurrency, QuotaGuard, quotaExtensionsPlugin, QuotaplaneModule, type CallOutcome } from '../index';
import { GuardRuntime } from '../module/guard-runtime';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

@Resolver()
class SearchResolver {
  @Query(() => String)
  @Cost(({ body }) => (body as { pages?: number }).pages ?? 1)
  search(@Args('pages', { type: () => Int, defaultValue: 1 }) pages: number): string {
    return `${pages} pages`;
  }

  @Query(() => String)
  @LimitConcurrency()
  fails(): string {
    throw new Error('no');
  }

  @Mutation(() => String)
  @LimitConcurrency()
  save(): string {
    return 'saved';
  }
}

@Module({})
class GraphqlModule {}

interface GraphqlAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: { readonly message: string; readonly path: string[]; readonly extensions: Record<string, unknown> }[];
  readonly extensions?: { readonly rateLimit?: Record<string, Record<string, string>> };
}

/** What drivers hand to resolvers: Apollo's usual request and response, the request alone, or neither. */
const CONTEXTS: Record<string, ApolloDriverConfig['context']> = {
  'a response in its context': ({ req, res }: { req: object; res: object }) => ({ req, res }),
  'no response in its context': ({ req }: { req: { headers: object; socket: object } }) => ({ req: { headers: req.headers, socket: req.socket } }),
};

describe.each(Object.entries(CONTEXTS))('a GraphQL resolver with %s', (name, context) => {
  const hasResponse = name.startsWith('a response');
  let platform: SpecPlatform;
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    platform = await startPlatform();
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true, graphiql: false, plugins: [quotaExtensionsPlugin()], context });
    const module = {
      module: GraphqlModule, imports: [QuotaplaneModule.forRoot(platform.options), graphql],
      providers: [SearchResolver, { provide: APP_GUARD, useExisting: QuotaGuard }],
    };
    app = await NestFactory.create(module, new ExpressAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = `${(await app.getUrl()).replace('[::1]', '127.0.0.1')}/graphql`;
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });

  const ask = async (query: string, headers: Record<string, string>): Promise<{ response: Response; body: GraphqlAnswer }> => {
    const response = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    return { response, body: (await response.json()) as GraphqlAnswer };
  };

  // Mutation: a header is set on a response that is not there, or the guard lets what is not HTTP pass.
  it('C064 is limited, and tells the figures in extensions', async () => {
    const key = await platform.tenantWith('graph', { limits: [limitOf({ limit: 1, burst: 6 })] });
    const { response, body } = await ask('{ search(pages: 2) }', key);
    expect(body).toMatchObject({ data: { search: '2 pages' }, extensions: { rateLimit: { search: { 'RateLimit-Policy': '"per-minute";q=1;w=60;qp-burst=6', 'RateLimit-Remaining': '4' } } } });
    expect(response.headers.get('ratelimit-remaining')).toBe(hasResponse ? '4' : null);
    const second = await ask('{ search(pages: 5) }', key);
    expect(second.body.data).toBeNull();
    expect(second.body.errors).toMatchObject([
      { message: expect.stringContaining('per-minute: 4 units available'), path: ['search'], extensions: { code: 'rate_limited', status: 429, policy: 'per-minute', retryAfter: expect.any(Number), rateLimit: { 'Retry-After': expect.any(String) } } },
    ]);
  });

  // Fails when a decision is kept for the whole request.
  it('charges each field of an operation, aliases too', async () => {
    const key = await platform.tenantWith('batch', { limits: [limitOf({ limit: 1, burst: 3 })] });
    const { body } = await ask('{ a: search b: search c: search d: search }', key);
    expect(body.errors).toHaveLength(1);
    expect(Object.keys(body.extensions?.rateLimit ?? {}).sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('tells queries from mutations, and wrong credentials from none', async () => {
    const key = await platform.tenantWith('methods', { limits: [limitOf({ name: 'writes', methods: ['POST'], limit: 1, burst: 1 })] });
    expect((await ask('mutation { save }', key)).body.errors).toBeUndefined();
    expect((await ask('mutation { save }', key)).body.errors?.[0]?.extensions['policy']).toBe('writes');
    expect((await ask('{ search }', key)).body.errors).toBeUndefined();
    expect((await ask('{ search }', { 'X-Api-Key': 'nonsense' })).body.errors?.[0]?.extensions['code']).toBe('unauthenticated');
  });

  it('gives back what a field holds when its result is there', async () => {
    const key = await platform.tenantWith('slots');
    const ends: CallOutcome[] = [];
    const { decider } = app.get(GuardRuntime).node;
    const decide = decider.decide.bind(decider);
    const spy = vi.spyOn(decider, 'decide').mockImplementation(async (call) => ({ ...(await decide(call)), release: (outcome) => void ends.push(outcome) }));
    await ask('mutation { save }', key);
    await ask('{ fails }', key);
    spy.mockRestore();
    expect(ends).toEqual([{ statusCode: 200, isAborted: false }, { statusCode: 500, isAborted: false }]);
  });
});
