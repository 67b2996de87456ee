import { randomUUID } from 'node:crypto';
import { redisKeys, type JournalDocument } from '@quotaplane/contracts';
import { quotaKeys } from '@quotaplane/rate-limit';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { Journal, periodAt, postJournal, type JournalCell, type PostedJournal } from '@quotaplane/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, startSpecApp, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';
import { UsageFold } from './usage-fold';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let fold: UsageFold;
let api: SpecApp;
let url: string;
let periodId: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  fold = rig.fold();
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  await api.app.listen(0, '127.0.0.1');
  url = await api.app.getUrl();
  periodId = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() }).id;
  const tier = await rig.tier('free', { quotas: [{ meter: 'requests', allowance: 100, overage: 'bill', alertAt: [] }], degraded: 'bill' });
  for (const slug of ['acme', 'hobby']) await rig.tenant(slug, tier);
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(async () => {
  await rig.redis.flushall();
  await rig.prisma.usageJournal.deleteMany();
  await rig.prisma.usageDegradedHour.deleteMany();
});

const cell = (part: Partial<JournalCell> = {}): JournalCell => ({ tenant: 'acme', meter: 'requests', periodId, part: 1, class: 'default', generation: 1, ...part });
const node = (incarnation: string): Journal => new Journal({ redis: rig.redis, incarnation, service: 'echo', storeNow: () => Date.now() });
const post = (document: JournalDocument): Promise<PostedJournal> => postJournal({ url, token: ADMIN_TOKEN, document, timeoutMs: 10_000 });
const inLedger = async (): Promise<bigint[]> => {
  const { _sum } = await rig.prisma.usageJournal.aggregate({ _sum: { admitted: true, refunded: true, degraded: true } });
  const hours = await rig.prisma.usageDegradedHour.aggregate({ _sum: { units: true } });
  return [_sum.admitted ?? 0n, _sum.refunded ?? 0n, _sum.degraded ?? 0n, hours._sum.units ?? 0n];
};
const documentOf = (part: Partial<JournalDocument> = {}): JournalDocument => ({
  version: 1, incarnation: randomUUID(), service: 'echo', sequence: 1, at: new Date().toISOString(), closed: true,
  counts: [{ tenant: 'acme', meter: 'requests', period: periodId, part: 1, class: 'default', generation: 1, admitted: 5, refunded: 1, degraded: 2, doubtful: 0, degradedByHour: [] }], ...part,
});

describe('a node that must exit while Redis is away', () => {
  // Mutations: fold a posted journal by adding; leave folded counts out of a cell; name another incarnation in the document.
  it.each([
    ['posts first, and Redis comes back empty', ['post', 'empty']],
    ['posts first, and Redis comes back with its old journal', ['post', 'fold']],
    ['posts after its old journal was folded', ['fold', 'post']],
    ['posts twice, around a fold of its old journal', ['post', 'fold', 'post']],
  ])('%s: the ledger is what was admitted', async (_, steps) => {
    const journal = node(randomUUID());
    const [own, search] = [cell(), cell({ class: 'search', tenant: 'hobby' })];
    journal.admit(own, 40);
    journal.admit(search, 10);
    await journal.flush();
    if (steps[0] === 'fold') await fold.run();
    journal.admit(own, 2);
    expect(journal.refund(own, 12)).toBe(12);
    // A copy of what Redis holds, for it to come back with.
    const held = await rig.redis.hgetall(redisKeys.journal(journal.snapshot().incarnation));
    await redisServer.kill('SIGKILL');
    journal.admitDegraded(own, 7);
    const { atRisk } = await journal.close();
    expect(Object.keys(atRisk).length).toBeGreaterThan(0);
    const document = journal.snapshot();
    expect(document.closed).toBe(true);
    await redisServer.restart();
    await expect.poll(() => rig.redis.ping().catch(() => 'away')).toBe('PONG');
    await rig.redis.flushall();
    for (const step of steps) {
      if (step === 'post') expect(await post(document)).toMatchObject({ isPosted: true, accepted: document.counts.length, refused: [] });
      if (step === 'empty') await rig.redis.flushall();
      if (step === 'fold') {
        await rig.redis.hset(redisKeys.journal(document.incarnation), held);
        await rig.redis.sadd(redisKeys.journals, document.incarnation);
      }
      await fold.run();
    }
    expect(await inLedger()).toEqual([52n, 12n, 7n, 7n]);
  });
});

describe('POST /v1/journals', () => {
  // Mutation: throw on the first unknown tenant.
  it('refuses the cells of unknown tenants, keeps the others and says so in the audit log', async () => {
    const [known] = documentOf().counts;
    if (!known) return expect.unreachable();
    const document = documentOf({ counts: [{ ...known, tenant: 'nobody' }, known, { ...known, tenant: 'acme-too' }] });
    const answer = await api.call('POST', '/v1/journals', { body: document });
    expect(answer).toMatchObject({ status: 200, body: { accepted: 1, refused: [{ pointer: '/counts/0/tenant', detail: 'is not a tenant' }, { pointer: '/counts/2/tenant' }] } });
    expect(await inLedger()).toEqual([5n, 1n, 2n, 0n]);
    const entries = await rig.prisma.auditEntry.findMany({ where: { changeId: answer.body.changeId ?? '' } });
    expect(entries).toMatchObject([{ action: 'journal.post', entityId: document.incarnation, after: { service: 'echo', accepted: 1, refused: 2 } }]);
  });

  // Mutation: leave it to the next fold, which such a node's tenant may never see; its quota stands at what Redis knew.
  it('counts in the quota, too, without a fold that brings more of the tenant', async () => {
    await rig.tenants.publish(['acme']);
    const { generation } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug: 'acme' } });
    await api.call('POST', '/v1/journals', { body: documentOf() });
    await fold.run();
    const key = quotaKeys({ tenant: 'acme', meter: 'requests', periodId, part: 1, generation }).base;
    // What outages gave away is billed here; what was admitted is in the counter already.
    expect(await rig.redis.hgetall(key)).toEqual({ plus: '2', minus: '0' });
  });

  it.each<[string, object, string]>([
    ['another version', { version: 2 }, '/version'],
    ['an id that is none', { incarnation: 'fold' }, '/incarnation'],
    ['a count that is not whole', { counts: [{ ...documentOf().counts[0], admitted: 1.5 }] }, '/counts/0/admitted'],
    ['a count past 2^53-1', { counts: [{ ...documentOf().counts[0], degraded: 2 ** 53 }] }, '/counts/0/degraded'],
    ['more refunded than admitted', { counts: [{ ...documentOf().counts[0], refunded: 6 }] }, '/counts/0/refunded'],
    ['hours that add up to more', { counts: [{ ...documentOf().counts[0], degradedByHour: [{ hour: '2026-11-30T10:00:00Z', units: 3 }] }] }, '/counts/0/degradedByHour'],
    ['half an hour', { counts: [{ ...documentOf().counts[0], degradedByHour: [{ hour: '2026-11-30T10:30:00Z', units: 1 }] }] }, '/counts/0/degradedByHour/0/hour'],
    ['a period that no store can keep', { counts: [{ ...documentOf().counts[0], period: '9999-12-31' }] }, '/counts/0/period'],
    ['an unknown member', { counts: [{ ...documentOf().counts[0], price: 1 }] }, '/counts/0/price'],
  ])('points at %s and takes nothing', async (_, part, pointer) => {
    const { status, body } = await api.call('POST', '/v1/journals', { body: { ...documentOf(), ...part, ...('counts' in part ? { counts: (part.counts as object[]).map((one) => ({ period: periodId, ...Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) })) } : {}) } });
    expect([status, body.errors?.map((error) => error.pointer)]).toEqual([422, [pointer]]);
    expect(await inLedger()).toEqual([0n, 0n, 0n, 0n]);
  });

  it('wants usage:write over the platform', async () => {
    const secretOf = async (body: object): Promise<string> => String((await api.call('POST', '/v1/tokens', { body: { name: 'node', ...body } })).body['secret']);
    const reader = await secretOf({ scopes: ['usage:read'], binding: { kind: 'platform' } });
    const bound = await secretOf({ scopes: ['usage:write'], binding: { kind: 'tenant', tenant: 'acme' } });
    for (const token of [reader, bound]) expect((await api.call('POST', '/v1/journals', { body: documentOf(), token })).status).toBe(403);
    const token = await secretOf({ scopes: ['usage:write'], binding: { kind: 'platform' } });
    expect(await postJournal({ url, token, document: documentOf(), timeoutMs: 5_000 })).toEqual({ isPosted: true, accepted: 1, refused: [] });
  });

  // Mutation: leave the body limit of the contract out, and 256 kB is the end.
  it('takes 12,000 cells, in parts, and no body above 5 MB', async () => {
    const [known] = documentOf().counts;
    if (!known) return expect.unreachable();
    const document = documentOf({ counts: Array.from({ length: 12_000 }, (_, index) => ({ ...known, class: `class-${index}`, tenant: index === 11_000 ? 'nobody' : 'acme' })) });
    expect(await postJournal({ url, token: ADMIN_TOKEN, document, timeoutMs: 60_000 })).toEqual({
      isPosted: true, accepted: 11_999, refused: [{ pointer: '/counts/11000/tenant', detail: 'is not a tenant' }],
    });
    expect(await rig.prisma.usageJournal.count()).toBe(11_999);
    expect((await api.call('POST', '/v1/journals', { rawBody: `{"x":"${'y'.repeat(5 * 1024 * 1024)}"}` })).status).toBe(413);
    expect((await api.call('POST', '/v1/tiers', { rawBody: `{"x":"${'y'.repeat(300_000)}"}` })).status).toBe(413);
  }, 60_000);
});
