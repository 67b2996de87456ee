import { createHash } from 'node:crypto';
import { routes, statementSchema } from '@quotaplane/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { AUGUST, SEPTEMBER, StatementsRig } from './specs/statements-rig';

let rig: StatementsRig;
let api: SpecApp;
let bound: string;
beforeAll(async () => {
  rig = await StatementsRig.start();
  api = await startSpecApp({ databaseUrl: rig.postgres.url, redisUrl: rig.redisServer.url }, { clock: rig.clock });
  const tier = await rig.tier('billed', 100);
  for (const slug of ['acme', 'globex', 'initech']) await rig.tenant(slug, tier);
  await rig.use('acme', Number.MAX_SAFE_INTEGER);
  await rig.use('acme', Number.MAX_SAFE_INTEGER);
  await rig.use('globex', 150);
  const created = await api.call('POST', '/v1/tokens', { body: { name: 'acme only', scopes: ['usage:read'], binding: { kind: 'tenant', tenant: 'acme' } } });
  bound = String(created.body['secret']);
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
});

/** By the words of docs/billing.md alone: RFC 8785, and SHA-256 of its UTF-8. */
const sha256 = (value: unknown): string => createHash('sha256').update(canonical(value), 'utf8').digest('hex');
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
};

const close = (slug: string, period: string) => api.call('POST', `/v1/tenants/${slug}/periods/${period}/close`);

describe('closing by hand', () => {
  // Mutations: close a period that runs; close September before August; make another statement on the second call.
  it('closes an ended period at once, names who did it, and answers a second call with the same statement', async () => {
    rig.clock.set(SEPTEMBER.endMs + 1);
    expect((await close('initech', '2026-10-01')).body).toMatchObject({ code: 'conflict', detail: expect.stringContaining('runs until') });
    expect((await close('initech', SEPTEMBER.id)).body).toMatchObject({ code: 'conflict', detail: expect.stringContaining(AUGUST.id) });
    expect((await close('initech', '2026-08-02')).status).toBe(404);
    expect((await close('nobody', AUGUST.id)).status).toBe(404);
    const first = await close('initech', AUGUST.id);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ number: 1, closedBy: expect.stringMatching(/bootstrap/i), lines: [{ meter: 'requests', used: '0' }] });
    const [again, parallel] = await Promise.all([close('initech', AUGUST.id), close('initech', AUGUST.id)]);
    for (const { status, body } of [again, parallel]) expect([status, body.id, body['hash']]).toEqual([200, first.body.id, first.body['hash']]);
    expect((await close('initech', SEPTEMBER.id)).body).toMatchObject({ number: 2, previousHash: first.body['hash'] });
    const { items } = (await api.call('GET', '/v1/audit?action=period.close&tenant=initech')).body;
    expect(items?.[0]).toMatchObject({ actor: { kind: 'token' }, entity: { type: 'statement' } });
  });
});

describe('reading statements', () => {
  beforeAll(async () => {
    rig.clock.set(Date.UTC(2026, 9, 3));
    await rig.worker().closing.run();
  });

  it('lists them newest first, page by page, by tenant and by month', async () => {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await api.call('GET', `/v1/statements?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      seen.push(...(body.items ?? []).map(({ id }) => String(id)));
      if (typeof body.nextCursor !== 'string') break;
      cursor = body.nextCursor;
    }
    expect([seen.length, new Set(seen).size]).toEqual([6, 6]);
    const august = (await api.call('GET', '/v1/statements?period=2026-08')).body.items ?? [];
    expect(august.map((row) => row['tenant']).sort()).toEqual(['acme', 'globex', 'initech']);
    const [own] = (await api.call('GET', '/v1/statements?tenant=acme&period=2026-08')).body.items ?? [];
    const { body } = await api.call('GET', `/v1/statements/${own?.id}`);
    const sum = String(2n * BigInt(Number.MAX_SAFE_INTEGER));
    expect(statementSchema.parse(body)).toMatchObject({ tenant: 'acme', lines: [{ used: sum }], totals: [{ meter: 'requests', used: sum, adjusted: '0' }] });
  });

  it('P18 shows a bound token its own statements, and foreign ones like missing ones', async () => {
    const [foreign] = (await api.call('GET', '/v1/statements?tenant=globex')).body.items ?? [];
    expect((await api.call('GET', `/v1/statements/${foreign?.id}`, { token: bound })).status).toBe(404);
    expect((await api.call('GET', '/v1/statements?tenant=globex', { token: bound })).status).toBe(404);
    for (const path of ['/v1/statements', '/v1/statements/export?period=2026-08', '/v1/statements/export?period=2026-08&format=ndjson', '/v1/usage/export?period=2026-08']) {
      const { status, text } = await api.call('GET', path, { token: bound });
      expect([path, status, text.includes('acme'), text.includes('globex')]).toEqual([path, 200, true, false]);
    }
    expect((await api.call('GET', '/v1/statements/verify', { token: bound })).body).toMatchObject({ isSound: true, statements: 2, tenants: 1 });
    expect((await close('acme', AUGUST.id)).status).toBe(200);
    expect((await api.call('POST', `/v1/tenants/acme/periods/${AUGUST.id}/close`, { token: bound })).status).toBe(403);
  });

  // Mutations: hash what is not told; hash another form than RFC 8785 has; change or round anything on the way out.
  it('tells all that whoever doubts a hash needs to work it out', async () => {
    const token = await api.call('POST', '/v1/tokens', { body: { name: 'Zoë \u{1F600} "q" \\ /\u2028', scopes: ['usage:write'], binding: { kind: 'platform' } } });
    expect(token.status).toBe(201);
    const closed = await api.call('POST', `/v1/tenants/globex/periods/${SEPTEMBER.id}/close`, { token: String(token.body['secret']) });
    expect(closed.status).toBe(200);
    await rig.use('globex', 7);
    await rig.worker().adjustments.run();
    const { items = [] } = (await api.call('GET', '/v1/statements?tenant=globex')).body;
    const byNumber = [...items].sort((a, b) => Number(a['number']) - Number(b['number']));
    expect(byNumber.map((one) => one['number'])).toEqual([1, 2]);
    let previous = '0'.repeat(64);
    for (const { id } of byNumber) {
      const { tenant, number, period, closedAt, closedBy, lines, reconciliation, previousHash, hash, adjustments } = (await api.call('GET', `/v1/statements/${String(id)}`)).body;
      expect(previousHash).toBe(previous);
      expect(sha256({ tenant, number, period, closedAt, closedBy, lines, reconciliation, previousHash })).toBe(hash);
      let before = previous = String(hash);
      for (const { hash: own, ...adjustment } of adjustments as ({ hash: string; previousHash: string } & Record<string, unknown>)[]) {
        expect(adjustment.previousHash).toBe(before);
        expect(sha256(adjustment)).toBe(own);
        before = own;
      }
      if (number === 1) expect(before).not.toBe(hash);
    }
  });

  it('verifies them all', async () => {
    const { body } = await api.call('GET', '/v1/statements/verify');
    expect(routes.statementsVerify.response.parse(body)).toMatchObject({ isSound: true, statements: 6, tenants: 3, problems: [] });
  });
});

describe.each([
  ['usage', '/v1/usage/export?period=2026-08'],
  ['statements', '/v1/statements/export?period=2026-08'],
])('an export of %s', (_, path) => {
  const rows = async (query = '') => {
    const { status, text } = await api.call('GET', `${path}&format=ndjson${query}`);
    expect(status).toBe(200);
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as { tenant: string; cursor: string; asOf: string });
  };

  // Mutations: start at the cursor's row instead of behind it; order by the time of closing.
  it('goes on behind any row that was taken, with nothing twice and nothing left out', async () => {
    const all = await rows();
    expect(all.map(({ tenant }) => tenant)).toEqual(['acme', 'globex', 'initech']);
    for (const [index, { cursor }] of all.entries()) {
      expect((await rows(`&cursor=${cursor}`)).map(({ tenant }) => tenant)).toEqual(all.slice(index + 1).map(({ tenant }) => tenant));
    }
    for (const { asOf } of all) expect(Date.parse(asOf)).not.toBeNaN();
    expect((await rows('&tenant=globex')).map(({ tenant }) => tenant)).toEqual(['globex']);
    expect((await api.call('GET', `${path}&cursor=nonsense`)).status).toBe(422);
    expect((await api.call('GET', `${path}&tenant=nobody`)).status).toBe(404);
  });

  it('P14 writes sums past 2^53 to the unit in both forms, with the cursor and asOf in each row', async () => {
    const sum = String(2n * BigInt(Number.MAX_SAFE_INTEGER));
    const { text, headers } = await api.call('GET', `${path}&tenant=acme&format=csv`);
    const [header = '', row = ''] = text.trim().split('\n');
    const cells = Object.fromEntries(header.split(',').map((name, index) => [name, row.split(',')[index]]));
    const [line] = await rows('&tenant=acme');
    expect(cells).toMatchObject({ tenant: 'acme', meter: 'requests', admitted: sum, used: sum, cursor: line?.cursor });
    expect(line).toMatchObject({ used: sum });
    expect(Date.parse(cells['asOf'] ?? '')).not.toBeNaN();
    expect(headers['content-type']).toContain('text/csv');
  });
});
