import { createHash } from 'node:crypto';
import { PLATFORM_ONLY_AREAS, RIGHTS, routes, type RouteContract } from '@quotaplane/contracts';
import { generateSecret, hashSecret } from '@quotaplane/guard';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { ADMIN_TOKEN, startSpecApp, type SpecApp } from '../http/spec-app';
import { SYSTEM_CALLER } from '../http/caller';
import { applyBinding } from './binding';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  prisma = api.app.get(PrismaService);
  await prisma.tenant.createMany({ data: [{ slug: 'acme', name: 'Acme' }, { slug: 'globex', name: 'Globex' }] });
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

async function tokenWith(body: object): Promise<{ secret: string; id: string }> {
  const answer = await api.call('POST', '/v1/tokens', { body: { name: 'spec', binding: { kind: 'platform' }, ...body } });
  expect(answer.status).toBe(201);
  return { secret: answer.body.secret ?? '', id: answer.body.id ?? '' };
}

describe('tokens', () => {
  it('shows the secret once and keeps only its hash', async () => {
    const { secret, id } = await tokenWith({ scopes: ['tiers:read'] });
    expect(secret).toMatch(/^qpt_[0-9A-Za-z]{49}$/);
    const row = await prisma.apiToken.findUniqueOrThrow({ where: { id } });
    expect(row.secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
    expect((await api.call('GET', '/v1/audit')).text).not.toContain(secret);
    expect((await api.call('GET', '/v1/tokens')).text).not.toContain(secret);
  });

  it('allows exactly its scopes', async () => {
    const { secret } = await tokenWith({ scopes: ['tiers:read'] });
    expect((await api.call('GET', '/v1/tiers', { token: secret })).status).toBe(200);
    expect(await api.call('GET', '/v1/audit', { token: secret })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await api.call('POST', '/v1/tiers', { token: secret, body: {} })).toMatchObject({ status: 403 });
    expect((await api.call('GET', '/v1/auth/me', { token: secret })).body).toMatchObject({ kind: 'token', rights: ['tiers:read'], tenant: null });
  });

  // Mutation: leave the checksum test out, or look the token up by prefix, and one of these passes.
  it('refuses garbage, unknown, expired and missing tokens alike', async () => {
    const { secret } = await tokenWith({ scopes: ['tiers:read'], expiresAt: new Date(Date.now() + 60_000).toISOString() });
    await prisma.apiToken.update({ where: { secretHash: hashSecret(secret) }, data: { expiresAt: new Date(Date.now() - 1) } });
    for (const token of [null, 'qpt_garbage', generateSecret('qpt_'), secret, `${secret}x`]) {
      const answer = await api.call('GET', '/v1/tiers', { token });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', detail: 'Sign in, or send a valid API token' } });
    }
  });

  it('makes no token that has ended already', async () => {
    const ended = { name: 'ended', scopes: ['tiers:read'], binding: { kind: 'platform' }, expiresAt: new Date(Date.now() - 1_000).toISOString() };
    expect(await api.call('POST', '/v1/tokens', { body: ended })).toMatchObject({ status: 422, body: { errors: [{ pointer: '/expiresAt' }] } });
  });

  it('says how a token is sent when the word Bearer is missing', async () => {
    for (const authorization of [ADMIN_TOKEN, `Basic ${ADMIN_TOKEN}`]) {
      expect(await api.call('GET', '/v1/tiers', { token: null, headers: { authorization } })).toMatchObject({ status: 401, body: { detail: 'Send the token as "Authorization: Bearer <token>"' } });
    }
  });

  // Mutation: cache the token row for a second and the last call passes.
  it('C082 refuses a revoked token in the very next call, on another process too', async () => {
    const other = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
    const { secret, id } = await tokenWith({ scopes: ['tiers:read'] });
    for (const process of [api, other]) expect((await process.call('GET', '/v1/tiers', { token: secret })).status).toBe(200);
    expect((await api.call('DELETE', `/v1/tokens/${id}`, { ifMatch: 1 })).status).toBe(200);
    for (const process of [api, other]) expect((await process.call('GET', '/v1/tiers', { token: secret })).status).toBe(401);
    await other.stop();
  });

  // Mutation: find the old bootstrap token by its name or `createdBy`, and a restart revokes what it made.
  it('outlives a restart when the bootstrap token made it, also one named like it; only a replaced bootstrap token is revoked', async () => {
    const restart = async (bootstrap: string): Promise<void> => {
      const again = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { env: { QUOTAPLANE_BOOTSTRAP_TOKEN: bootstrap } });
      await again.stop();
    };
    const made = await tokenWith({ name: 'bootstrap', scopes: ['tiers:read'] });
    await restart(ADMIN_TOKEN);
    expect((await api.call('GET', '/v1/tiers', { token: made.secret })).status).toBe(200);

    await restart('spec-bootstrap-token-2');
    const revoked = await prisma.auditEntry.findFirstOrThrow({ where: { action: 'token.revoke' }, orderBy: { seq: 'desc' } });
    // The name is what the console shows in place of the id.
    expect(revoked).toMatchObject({ after: { name: 'bootstrap' }, actor: { kind: 'system' }, reason: 'QUOTAPLANE_BOOTSTRAP_TOKEN holds another token since this start' });
    expect((await api.call('GET', '/v1/tiers', { token: made.secret })).status).toBe(200);
    expect((await api.call('GET', '/v1/tiers')).status).toBe(401);
    expect((await api.call('GET', '/v1/tiers', { token: 'spec-bootstrap-token-2' })).status).toBe(200);
    await prisma.apiToken.update({ where: { secretHash: hashSecret(ADMIN_TOKEN) }, data: { revokedAt: null } });
  });

  // Mutation: grant body.scopes without comparing with the caller's and the token mints an admin.
  it('cannot mint a token or operator above itself', async () => {
    const { secret } = await tokenWith({ scopes: ['tokens:write', 'operators:write', 'tiers:read'] });
    const mint = { name: 'more', binding: { kind: 'platform' }, scopes: ['tiers:write'] };
    expect(await api.call('POST', '/v1/tokens', { token: secret, body: mint })).toMatchObject({ status: 403 });
    const operator = { email: 'x@example.com', name: 'X', role: 'admin', password: 'long enough now' };
    expect(await api.call('POST', '/v1/operators', { token: secret, body: operator })).toMatchObject({ status: 403 });
  });

  // Mutation: read a missing binding as { kind: 'platform' } and the list is given.
  it('C084 lets a platform token list tenants and refuses one that is bound to nothing', async () => {
    const secret = generateSecret('qpt_');
    await prisma.apiToken.create({ data: { name: 'unbound', secretHash: hashSecret(secret), hint: 'qpt_', scopes: [...RIGHTS], createdBy: 'spec' } });
    for (const path of ['/v1/tiers', '/v1/auth/me', '/v1/settings']) expect(await api.call('GET', path, { token: secret })).toMatchObject({ status: 403 });
    const { secret: platform } = await tokenWith({ scopes: ['tiers:read'] });
    expect((await api.call('GET', '/v1/tiers', { token: platform })).status).toBe(200);
  });
});

describe('tokens bound to a tenant', () => {
  it('cannot hold what belongs to the platform', async () => {
    const answer = await api.call('POST', '/v1/tokens', { body: { name: 'x', scopes: ['tenants:read', 'settings:read'], binding: { kind: 'tenant', tenant: 'acme' } } });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/scopes/1' }] } });
    const unknown = await api.call('POST', '/v1/tokens', { body: { name: 'x', scopes: ['tenants:read'], binding: { kind: 'tenant', tenant: 'nobody' } } });
    expect(unknown).toMatchObject({ status: 422, body: { errors: [{ pointer: '/binding/tenant' }] } });
  });

  // Mutation: return `input` unchanged in applyBinding and the other tenant's entries are listed.
  it('sees only its own audit entries, and another tenant like a missing one', async () => {
    const { secret } = await tokenWith({ scopes: ['audit:read'], binding: { kind: 'tenant', tenant: 'acme' } });
    expect((await api.call('GET', '/v1/audit', { token: secret })).body.items).toEqual([]);
    const foreign = await api.call('GET', '/v1/audit?tenant=globex', { token: secret });
    const missing = await api.call('GET', '/v1/audit?tenant=nobody', { token: secret });
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
    expect((await api.call('GET', '/v1/audit/verify', { token: secret })).status).toBe(403);
  });

  // Mutation: return `input` for a route without tenantParam and a new route is open to every tenant by default.
  it.each(Object.entries(routes) as [string, RouteContract][])('%s narrows, refuses or is about the caller alone', (_, contract) => {
    const caller = { ...SYSTEM_CALLER, boundTenant: 'acme' };
    const foreign = { params: { slug: 'globex', id: 'x' }, query: { tenant: 'globex' }, body: { tenant: 'globex' }, ifVersion: 1 };
    const apply = (): unknown => applyBinding(contract, foreign, caller);
    const area = contract.access.split(':')[0] ?? '';
    if (contract.access === 'signed-in' || contract.access === 'public') expect(apply()).toBe(foreign);
    else if ((PLATFORM_ONLY_AREAS as readonly string[]).includes(area)) expect(apply).toThrow('bound to one tenant');
    else if (contract.tenantParam !== undefined) expect(apply).toThrow('no such resource');
    else if (['/v1/tenants', '/v1/offenders', '/v1/statements/{id}'].includes(contract.path) && contract.method === 'GET') expect(apply()).toBe(foreign);
    else if (contract.path === '/v1/usage/records') expect(apply()).toBe(foreign);
    else if (contract.path.startsWith('/v1/overrides/{id}') || contract.path === '/v1/penalties/{id}') expect(apply()).toBe(foreign);
    else expect(apply).toThrow('bound to one tenant');
  });
});
