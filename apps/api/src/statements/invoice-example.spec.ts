import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { StatementsRig } from './specs/statements-rig';

const EXAMPLE = fileURLToPath(new URL('../../../../docs/examples/invoice.mjs', import.meta.url));

let rig: StatementsRig;
let api: SpecApp;
let url: string;
beforeAll(async () => {
  rig = await StatementsRig.start();
  api = await startSpecApp({ databaseUrl: rig.postgres.url, redisUrl: rig.redisServer.url }, { clock: rig.clock });
  await api.app.listen(0, '127.0.0.1');
  url = await api.app.getUrl();
  const tier = await rig.tier('billed', 1_000);
  for (const slug of ['acme', 'globex', 'idle']) await rig.tenant(slug, tier);
  await rig.use('acme', 1_400, { incarnation: 'acme-node' });
  await rig.use('globex', Number.MAX_SAFE_INTEGER);
  await rig.worker().closing.run();
  await rig.use('acme', 100, { incarnation: 'acme-node' });
  await rig.worker().adjustments.run();
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
});

const token = async (binding: object): Promise<string> =>
  String((await api.call('POST', '/v1/tokens', { body: { name: 'billing', scopes: ['usage:read'], binding } })).body['secret']);
const run = (month: string, secret: string) =>
  promisify(execFile)(process.execPath, [EXAMPLE, month], { env: { PATH: process.env['PATH'], QUOTAPLANE_URL: url, QUOTAPLANE_TOKEN: secret, PRICES: '{"requests": 2000}' } });

it('makes invoice lines of a month with a token that may read usage alone', async () => {
  const { stdout } = await run('2026-08', await token({ kind: 'platform' }));
  const billable = BigInt(Number.MAX_SAFE_INTEGER) - 1_000n;
  expect(stdout.trim().split('\n')).toEqual([
    'acme  statement 1  2026-08-01  requests: 1500 used of 1000, 500 billable, 10.00  (100 of it after closing)',
    `globex  statement 1  2026-08-01  requests: ${Number.MAX_SAFE_INTEGER} used of 1000, ${billable} billable, ${String(billable * 2n).slice(0, -2)}.${String(billable * 2n).slice(-2)}`,
    'idle  statement 1  2026-08-01  requests: 0 used of 1000, 0 billable, 0.00',
    expect.stringMatching(/^3 lines, /),
  ]);
});

it('sees one tenant with a token that is bound to it, and ends with the reason where the token is none', async () => {
  const { stdout } = await run('2026-08', await token({ kind: 'tenant', tenant: 'acme' }));
  expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^acme /), '1 lines, 10.00 in all']);
  await expect(run('2026-08', 'nonsense')).rejects.toMatchObject({ stderr: expect.stringContaining('401') });
});
