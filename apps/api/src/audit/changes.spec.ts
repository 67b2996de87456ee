import { routes, type RouteContract } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { MUTATION_TAGS, MUTATIONS } from './spec-changes';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  prisma = api.app.get(PrismaService);
  // Failures are made on purpose below; their stacks would hide the others.
  api.app.useLogger(false);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const idOf = (route: RouteContract): string => `${route.method} ${route.path}`;

describe('C079 every mutating route', () => {
  it('C079 is in the matrix', () => {
    const isMutating = ({ method, path, tag }: RouteContract): boolean => method !== 'GET' && MUTATION_TAGS.includes(tag) && !path.startsWith('/v1/auth/');
    const known = Object.values<RouteContract>(routes).filter(isMutating).map(idOf);
    expect(MUTATIONS.map(({ route }) => idOf(route)).sort()).toEqual(known.sort());
  });

  // Mutation: write the row with the plain client instead of `tx`, or leave appendEntries out, and one of the two cases fails.
  it.each(MUTATIONS.map((mutation, index) => [idOf(mutation.route), mutation, index] as const))('C079 %s writes one entry in its own transaction and nothing without it', async (_, mutation, index) => {
    const request = await mutation.prepare(api, `once-${index}`);
    const count = await prisma.auditEntry.count();
    const answer = await api.call(mutation.route.method, request.path, request);
    expect(answer.status).toBe(mutation.route.status);
    const entries = await prisma.auditEntry.findMany({ where: { changeId: answer.body.changeId ?? '' } });
    expect(entries).toHaveLength(1);
    expect(await prisma.auditEntry.count()).toBe(count + 1);
    expect(entries[0]).toMatchObject({ requestId: answer.headers['x-request-id'], actor: { kind: 'token', name: 'bootstrap' } });
    expect(await prisma.change.count({ where: { id: answer.body.changeId ?? '' } })).toBe(1);

    const again = await mutation.prepare(api, `fails-${index}`);
    const before = await stateOf(prisma);
    await prisma.$executeRawUnsafe('ALTER TABLE audit_entries ADD CONSTRAINT refuse_new CHECK (false) NOT VALID');
    const refused = await api.call(mutation.route.method, again.path, again);
    await prisma.$executeRawUnsafe('ALTER TABLE audit_entries DROP CONSTRAINT refuse_new');
    expect(refused).toMatchObject({ status: 500, body: { code: 'internal', detail: 'Something went wrong on our side' } });
    expect(await stateOf(prisma)).toEqual(before);
  });
});

/** All rows that the routes above can change, and the outbox. */
async function stateOf(client: PrismaService): Promise<string> {
  const rows = await Promise.all([
    client.tier.findMany({ orderBy: { id: 'asc' } }), client.tierVersion.findMany({ orderBy: { id: 'asc' } }), client.endpointClass.findMany({ orderBy: { id: 'asc' } }),
    client.listEntry.findMany({ orderBy: { id: 'asc' } }), client.settings.findMany(), client.operator.findMany({ orderBy: { id: 'asc' } }), client.apiToken.findMany({ orderBy: { id: 'asc' } }),
    client.change.count(), client.auditEntry.count(), client.auditHead.findMany({ orderBy: { chain: 'asc' } }),
  ]);
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
