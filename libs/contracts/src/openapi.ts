import type { z } from 'zod';
import { ERROR_CODES, problemSchema } from './errors';
import { CSRF_HEADER, IDEMPOTENCY_KEY_HEADER, REQUEST_ID_HEADER, SESSION_COOKIE } from './http-headers';
import { Components, type JsonSchema } from './openapi/components';
import type { RouteContract } from './route';
import { routes } from './routes';

/**
 * The OpenAPI 3.1 document of the control plane. Pure: the same routes give the same document, which is committed as
 * docs/api/openapi.json and compared in CI.
 */
export function openApiDocument(contracts: Readonly<Record<string, RouteContract>> = routes): JsonSchema {
  const components = new Components();
  const paths: Record<string, JsonSchema> = {};
  for (const [operationId, contract] of Object.entries(contracts)) {
    paths[contract.path] = { ...paths[contract.path], [contract.method.toLowerCase()]: operation(operationId, contract, components) };
  }
  const problem = components.refer(problemSchema, 'output');
  return {
    openapi: '3.1.1',
    info: {
      title: 'Quotaplane control plane',
      version: '1',
      description: 'Tiers, tenants, overrides, quotas and usage. Errors are problem+json (RFC 9457) with a `code`; invalid input names every bad field.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(Object.values(contracts).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.toJSON(),
      responses: {
        Problem: { description: 'The request was refused', content: { 'application/problem+json': { schema: problem } } },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token, `qpt_...`' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: `The console's session; writes also send ${CSRF_HEADER}` },
      },
    },
  };
}

function operation(operationId: string, contract: RouteContract, components: Components): JsonSchema {
  const body = contract.body ? { requestBody: { required: isBodyRequired(contract.body), content: bodyContent(contract.bodyTypes ?? { 'application/json': contract.body }, components) } } : {};
  return {
    operationId,
    summary: contract.summary,
    tags: [contract.tag],
    ...(contract.access === 'public' ? { security: [] } : {}),
    'x-access': contract.access,
    parameters: [...parameters(contract.params, 'path', components), ...parameters(contract.query, 'query', components), ...parameters(contract.headers, 'header', components), ...headerParameters(contract)],
    ...body,
    responses: {
      [contract.status]: answer(contract, components),
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

function bodyContent(types: Readonly<Record<string, z.ZodType>>, components: Components): JsonSchema {
  return Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema: components.refer(schema, 'input') }]));
}

function isBodyRequired(body: z.ZodType): boolean {
  return !body.safeParse({}).success;
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header', components: Components): JsonSchema[] {
  return Object.entries(schema?.shape ?? {}).map(([name, type]) => {
    const field = type as z.ZodType;
    return { name, in: place, required: place === 'path' || !field.safeParse(undefined).success, schema: components.refer(field, 'input') };
  });
}

function headerParameters({ ifMatch, idempotent }: RouteContract): JsonSchema[] {
  const string = { type: 'string' };
  return [
    ...(ifMatch ? [{ name: 'If-Match', in: 'header', required: true, schema: string, description: 'The version you have read, as in its ETag: `"3"`' }] : []),
    ...(idempotent ? [{ name: IDEMPOTENCY_KEY_HEADER, in: 'header', required: false, schema: { ...string, maxLength: 255 }, description: 'Kept 7 days: the same key and body get the first answer' }] : []),
  ];
}

function answer(contract: RouteContract, components: Components): JsonSchema {
  const headers = { headers: { [REQUEST_ID_HEADER]: { schema: { type: 'string' } } } };
  const text = { schema: { type: 'string' } };
  if (contract.response === 'empty') return { description: 'Done', ...headers };
  if (contract.response === 'csv-or-ndjson') return { description: 'A stream of rows', ...headers, content: { 'text/csv': text, 'application/x-ndjson': text } };
  if (contract.response === 'event-stream') return { description: 'A stream of events', ...headers, content: { 'text/event-stream': text } };
  return { description: 'Done', ...headers, content: { 'application/json': { schema: components.refer(contract.response, 'output') } } };
}

/** Every code a problem can carry with its status, for the page that explains them. */
export const documentedErrors = Object.entries(ERROR_CODES).map(([code, { status, title }]) => ({ code, status, title }));
