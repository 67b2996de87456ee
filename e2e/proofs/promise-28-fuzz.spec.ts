import { request } from 'node:http';
import fc from 'fast-check';
import { figure, SEED } from '@quotaplane/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { metricTotal } from '../story/rig/degraded-totals';
import { call } from '../story/rig/http-call';
import { startPlatform } from '../story/rig/platform';
import { inputsOf, operationsOf, type Operation } from './rig/openapi-inputs';

const RUNS = figure(40, 100_000);

/** Status of a call that may be as broken as it likes; 0 where the server cut the connection, as it may on what is no HTTP. */
const statusOf = (url: string, method: string, headers: Record<string, string>, body: string | undefined): Promise<number> =>
  new Promise((resolve) => {
    try {
      const outgoing = request(url, { method, headers, timeout: 10_000 }, (reply) => {
        reply.resume();
        reply.once('end', () => resolve(reply.statusCode ?? 0));
        reply.once('error', () => resolve(reply.statusCode ?? 0));
      });
      outgoing.once('error', () => resolve(0));
      outgoing.once('timeout', () => outgoing.destroy());
      outgoing.end(body);
    } catch {
      // Node itself refuses what can be no request, such as a line break in a header.
      resolve(0);
    }
  });

// A product of its own: what comes out of the fuzz is written, renamed and deleted.
const platform = await startPlatform();
const nodeUrls = [platform.echoUrl];
afterAll(() => platform.stop());
const operations = await operationsOf(`${platform.apiUrl}/openapi.json`);

describe(`P28: no input makes the control plane fail (seed ${SEED})`, () => {
  it.each(operations.map((operation): [string, Operation] => [`${operation.method} ${operation.path}`, operation]))('%s', async (_name, operation) => {
    await fc.assert(
      fc.asyncProperty(inputsOf(operation), async ({ path, body, headers }) => {
        const status = await statusOf(`${platform.apiUrl}${path}`, operation.method, { authorization: `Bearer ${platform.token}`, ...headers }, body);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: RUNS, seed: SEED, interruptAfterTimeLimit: figure(20_000, 3_000_000), markInterruptAsFailure: false },
    );
  });

  it('and it is still there', async () => {
    expect((await call(`${platform.apiUrl}/health/ready`)).status).toBe(200);
    expect((await platform.control.get<{ items: unknown[] }>('/v1/tenants?limit=1')).items.length).toBe(1);
  });
});

const header = fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^[ -~]{0,60}$/), fc.constantFrom('', 'demo-acme', 'demo-', 'qpk_', '::ffff:10.0.0.1', '1.2.3.4, 5.6.7.8', '%00', '{}', 'null'));
const guardedCall = fc.record({
  path: fc.oneof(fc.webPath(), fc.constantFrom('/echo', '/search?q=%E0%A4%A', '/bulk', '/login', '/stream?ms=-1', '/stream?ms=1e3', '/fail', '//', '/%2e%2e/', '/echo;a=b')),
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'),
  headers: fc.dictionary(fc.constantFrom('x-api-key', 'x-user-id', 'x-forwarded-for', 'idempotency-key', 'content-type', 'x-request-id', 'origin', 'forwarded', 'accept', 'retry-after'), header),
  body: fc.option(fc.oneof(fc.json(), fc.string({ maxLength: 2000 }), fc.constantFrom('{"items":', '{"items":[1e999]}', '{"email":{"toString":1}}', '[]', '{"__proto__":{"a":1}}')), { nil: undefined }),
});

describe(`P28: no input makes a guarded service fail (seed ${SEED})`, () => {
  it('whatever the path, the method, the headers and the body', async () => {
    const errorsBefore = await metricTotal(nodeUrls, 'quotaplane_store_errors_total');
    let next = 0;
    await fc.assert(
      fc.asyncProperty(guardedCall, async ({ path, method, headers, body }) => {
        const url = `${nodeUrls[next++ % nodeUrls.length]}${path}`;
        const status = await statusOf(url, method, { 'content-type': 'application/json', ...headers }, method === 'GET' || method === 'HEAD' ? undefined : body);
        // The one route that always fails is asked for by its name.
        if (!/^\/fail(\?|$)/i.test(path)) expect(status).toBeLessThan(500);
      }),
      { numRuns: figure(3000, 100_000), seed: SEED },
    );
    for (const url of nodeUrls) expect((await call(`${url}/health`)).status).toBe(200);
    expect(await metricTotal(nodeUrls, 'quotaplane_store_errors_total')).toBe(errorsBefore);
  });
});
