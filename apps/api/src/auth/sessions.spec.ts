import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { ADMIN_EMAIL, ADMIN_PASSWORD, startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { ABSOLUTE_MS, IDLE_MS } from './sessions.service';
import { addressKey, SIGN_IN_PER_ACCOUNT, SIGN_IN_PER_ACCOUNT_AND_ADDRESS, SIGN_IN_PER_ADDRESS, SIGN_IN_WINDOW_MS } from './sign-in-limits';

const clock = new TestClock();
let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { clock });
  prisma = api.app.get(PrismaService);
});
beforeEach(async () => {
  await prisma.signInAttempt.deleteMany();
  clock.set(Math.ceil(clock.now() / SIGN_IN_WINDOW_MS) * SIGN_IN_WINDOW_MS);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const OK = { email: ADMIN_EMAIL, password: ADMIN_PASSWORD };
const CONSOLE = { 'x-quotaplane-console': '1' };

function signIn(body: object, options: { address?: string; headers?: Record<string, string> } = {}): Promise<SpecAnswer> {
  return api.call('POST', '/v1/auth/sign-in', { token: null, body, remoteAddress: options.address ?? '127.0.0.1', ...(options.headers ? { headers: options.headers } : {}) });
}

/** The cookie pair of a Set-Cookie header. */
function cookieOf(answer: SpecAnswer): string {
  const header = answer.headers['set-cookie'];
  return String(Array.isArray(header) ? header[0] : header).split(';')[0] ?? '';
}

async function session(): Promise<string> {
  return cookieOf(await signIn(OK));
}

describe('sign-in', () => {
  it('sets a strict HttpOnly cookie and tells who signed in', async () => {
    const answer = await signIn({ ...OK, email: ` ${ADMIN_EMAIL.toUpperCase()} ` });
    expect(answer).toMatchObject({ status: 200, body: { kind: 'operator', email: ADMIN_EMAIL, role: 'admin' } });
    expect(String(answer.headers['set-cookie'])).toMatch(/^qp-session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it('uses the __Host- name over HTTPS and refuses plain HTTP from elsewhere', async () => {
    const behindProxy = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { clock, env: { QUOTAPLANE_TRUSTED_PROXIES: '127.0.0.1' } });
    const answer = await behindProxy.call('POST', '/v1/auth/sign-in', { token: null, body: OK, headers: { 'x-forwarded-proto': 'https', host: 'ops.example.com' } });
    expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-qp-session=.*Secure/);
    await behindProxy.stop();
    expect(await signIn(OK, { headers: { host: 'ops.example.com' } })).toMatchObject({ status: 403 });
  });

  it('says the same for an unknown account and a wrong password', async () => {
    const [unknown, wrong] = [await signIn({ email: 'nobody@example.com', password: 'x' }), await signIn({ ...OK, password: 'x' })];
    expect(unknown.status).toBe(401);
    expect({ ...unknown.body, requestId: '' }).toEqual({ ...wrong.body, requestId: '' });
  });

  // Mutation: keep the previous session alive at sign-in and the old cookie still answers.
  it('gives a new id and ends the one the browser brought', async () => {
    const first = await session();
    const second = cookieOf(await signIn(OK, { headers: { cookie: first } }));
    expect(second).not.toBe(first);
    expect((await api.call('GET', '/v1/auth/me', { token: null, headers: { cookie: first } })).status).toBe(401);
    expect((await api.call('GET', '/v1/auth/me', { token: null, headers: { cookie: second } })).status).toBe(200);
  });
});

describe('sign-in limits', () => {
  // Mutation: count after the password is verified and parallel guesses pass the limit.
  it('lets at most 10 of 30 parallel guesses of one address at one account through, and says when to come back', async () => {
    clock.advance(59_500);
    const answers = await Promise.all(Array.from({ length: 30 }, () => signIn({ ...OK, password: 'guess' }, { address: '10.0.0.1' })));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(SIGN_IN_PER_ACCOUNT_AND_ADDRESS);
    const limited = answers.find(({ status }) => status === 429);
    expect(limited).toMatchObject({
      body: { code: 'sign_in_limited', detail: 'Too many attempts to sign in; try again in 14 min 1 s' }, headers: { 'retry-after': String(14 * 60 + 1) },
    });
    expect((await signIn(OK, { address: '10.0.0.1' })).status).toBe(429);
    // Mutation: count accounts alone at 10, and a stranger keeps the well-known first admin out.
    expect((await signIn(OK, { address: '10.0.0.2' })).status).toBe(200);
    clock.advance(14 * 60_000 + 500);
    expect((await signIn(OK, { address: '10.0.0.1' })).status).toBe(200);
  });

  // Mutation: leave the account's own count out, and a botnet guesses without bound.
  it('lets 100 attempts at one account through, whatever the addresses', async () => {
    await prisma.signInAttempt.create({ data: { key: `account:${ADMIN_EMAIL}`, windowStart: new Date(clock.now()), count: SIGN_IN_PER_ACCOUNT - 1 } });
    expect((await signIn({ ...OK, password: 'guess' }, { address: '10.2.0.1' })).status).toBe(401);
    expect((await signIn({ ...OK, password: 'guess' }, { address: '10.2.0.2' })).status).toBe(429);
  });

  it('lets 50 attempts an address through, whatever the accounts', async () => {
    for (let index = 0; index < SIGN_IN_PER_ADDRESS; index += 1) await prisma.$executeRaw`
      INSERT INTO sign_in_attempts (key, window_start, count) VALUES ('address:10.1.1.1', ${new Date(clock.now())}, 1)
      ON CONFLICT (key, window_start) DO UPDATE SET count = sign_in_attempts.count + 1`;
    expect((await signIn(OK, { address: '10.1.1.1' })).status).toBe(429);
    expect((await signIn(OK, { address: '10.1.1.2' })).status).toBe(200);
  });

  it('does not count what succeeded', async () => {
    for (let index = 0; index < SIGN_IN_PER_ACCOUNT_AND_ADDRESS + 2; index += 1) expect((await signIn(OK)).status).toBe(200);
  });

  it('still signs in while Redis is away', async () => {
    redis.pause();
    expect((await signIn(OK)).status).toBe(200);
    redis.resume();
  });

  it.each([['10.0.0.1', '10.0.0.1'], ['::ffff:10.0.0.1', '10.0.0.1'], ['2001:db8::1', '2001:db8:0:0::/64'], ['2001:db8:0:0:ffff::2', '2001:db8:0:0::/64'], ['::1', '0:0:0:0::/64']])('counts %s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

describe('a session', () => {
  const me = (cookie: string): Promise<SpecAnswer> => api.call('GET', '/v1/auth/me', { token: null, headers: { cookie } });

  // Mutation: compare lastSeenAt with ABSOLUTE_MS only and the idle session lives on.
  it('ends after 30 min idle and after 12 h in any case', async () => {
    const idle = await session();
    clock.advance(IDLE_MS - 1);
    expect((await me(idle)).status).toBe(200);
    clock.advance(IDLE_MS);
    expect((await me(idle)).status).toBe(401);

    const busy = await session();
    for (let passed = 0; passed + IDLE_MS / 2 < ABSOLUTE_MS; passed += IDLE_MS / 2) {
      expect((await me(busy)).status).toBe(200);
      clock.advance(IDLE_MS / 2);
    }
    clock.advance(IDLE_MS / 2);
    expect((await me(busy)).status).toBe(401);
  });

  it('ends at sign-out and when its operator is changed', async () => {
    const first = await session();
    expect((await api.call('POST', '/v1/auth/sign-out', { token: null, headers: { cookie: first, ...CONSOLE } })).status).toBe(204);
    expect((await me(first)).status).toBe(401);

    const body = { email: 'eve@example.com', name: 'Eve', role: 'support', password: 'long enough now' };
    const operator = await api.call('POST', '/v1/operators', { body });
    const second = cookieOf(await signIn({ email: body.email, password: body.password }));
    expect((await me(second)).body).toMatchObject({ role: 'support' });
    expect((await api.call('PATCH', `/v1/operators/${operator.body.id}`, { ifMatch: 1, body: { disabled: true } })).status).toBe(200);
    expect((await me(second)).status).toBe(401);
    expect((await signIn({ email: body.email, password: body.password })).status).toBe(401);
  });

  it('cannot take the last admin away', async () => {
    const admin = await prisma.operator.findUniqueOrThrow({ where: { email: ADMIN_EMAIL } });
    expect(await api.call('PATCH', `/v1/operators/${admin.id}`, { ifMatch: admin.version, body: { role: 'viewer' } })).toMatchObject({ status: 409 });
  });

  // Mutation: return early in requireSameSite when the header is there and the foreign rows pass.
  it.each([
    ['no console header', {}, 403],
    ['another origin', { ...CONSOLE, origin: 'https://evil.example' }, 403],
    ['another site by Sec-Fetch-Site', { ...CONSOLE, 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling site', { ...CONSOLE, 'sec-fetch-site': 'same-site' }, 403],
    ['an opaque origin', { ...CONSOLE, origin: 'null' }, 403],
    ['its own origin', { ...CONSOLE, origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' }, 201],
  ] as const)('answers a write with %s by %i', async (_, headers, status) => {
    const cookie = await session();
    const slug = `csrf-${Math.random().toString(36).slice(2, 10)}`;
    const answer = await api.call('POST', '/v1/tiers', { token: null, headers: { cookie, ...headers }, body: { slug, name: 'X' } });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('csrf_refused');
  });

  it('lets nobody sign another browser in from elsewhere', async () => {
    expect(await signIn(OK, { headers: { origin: 'https://evil.example' } })).toMatchObject({ status: 403, body: { code: 'csrf_refused' } });
  });
});
