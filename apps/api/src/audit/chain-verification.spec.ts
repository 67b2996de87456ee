import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecApp } from '../http/spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  prisma = api.app.get(PrismaService);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const WRITERS = 200;

describe('the audit chain', () => {
  // Mutation: drop FOR NO KEY UPDATE in lockAuditHeads and two writers take one predecessor; keep sub-millisecond times and the reload differs.
  it('C078 is a single line after 200 parallel writes and verifies after a reload', async () => {
    const answers = await Promise.all(Array.from({ length: WRITERS }, (_, index) => api.call('POST', '/v1/endpoint-classes', { body: { slug: `class-${index}`, description: `Grüße ${index} \u{1f600}` } })));
    expect(answers.map(({ status }) => status)).toEqual(Array(WRITERS).fill(201));
    const rows = await prisma.auditEntry.findMany({ where: { chain: 'platform' }, orderBy: { seq: 'asc' } });
    expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, index) => index + 1));
    expect(rows.slice(1).map(({ prevHash }) => prevHash)).toEqual(rows.slice(0, -1).map(({ hash }) => hash));
    const reloaded = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
    expect((await reloaded.call('GET', '/v1/audit/verify')).body).toEqual({ verified: true, chains: 1, entries: rows.length, faults: [] });
    await reloaded.stop();
  });

  // Mutation: leave any member out of entryHash and its row goes unseen.
  it.each([
    ['a changed reason', `UPDATE audit_entries SET reason = 'x' WHERE seq = 50`, '50', 'changed'],
    ['a changed instant', `UPDATE audit_entries SET at = at + interval '1 ms' WHERE seq = 50`, '50', 'changed'],
    ['a changed actor', `UPDATE audit_entries SET actor = jsonb_set(actor, '{name}', '"eve"') WHERE seq = 50`, '50', 'changed'],
    ['a changed action', `UPDATE audit_entries SET action = 'x' WHERE seq = 50`, '50', 'changed'],
    ['a changed entity', `UPDATE audit_entries SET entity_id = 'x' WHERE seq = 50`, '50', 'changed'],
    ['a changed after', `UPDATE audit_entries SET after = jsonb_set(after, '{cost}', '9') WHERE seq = 50`, '50', 'changed'],
    ['a changed before', `UPDATE audit_entries SET before = '{}' WHERE seq = 50`, '50', 'changed'],
    ['a changed request id', `UPDATE audit_entries SET request_id = 'x' WHERE seq = 50`, '50', 'changed'],
    ['a changed change id', `UPDATE audit_entries SET change_id = gen_random_uuid() WHERE seq = 50`, '50', 'changed'],
    ['a deleted entry', 'DELETE FROM audit_entries WHERE seq = 50', '50', 'missing'],
    ['a deleted start', 'DELETE FROM audit_entries WHERE seq <= 3', '1', 'missing'],
    ['two entries swapped', `UPDATE audit_entries SET seq = CASE seq WHEN 50 THEN -1 ELSE 50 END WHERE seq IN (50, 51); UPDATE audit_entries SET seq = 51 WHERE seq = -1`, '50', 'follow'],
    ['a cut end', 'DELETE FROM audit_entries WHERE seq > 100', '101', 'cut'],
    ['an end cut with its head', `DELETE FROM audit_entries WHERE seq > 100; UPDATE audit_heads SET seq = 100`, '100', 'head'],
    ['a head that is gone', 'DELETE FROM audit_heads', '', 'head'],
  ])('finds and locates %s', async (_, tampering, seq, words) => {
    await prisma.$executeRawUnsafe('CREATE TABLE kept_entries AS TABLE audit_entries');
    await prisma.$executeRawUnsafe('CREATE TABLE kept_heads AS TABLE audit_heads');
    // As a superuser who also switches the trigger off.
    await prisma.$executeRawUnsafe('ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_append_only');
    await prisma.$executeRawUnsafe('ALTER TABLE audit_entries DROP CONSTRAINT IF EXISTS audit_entries_chain_seq_key');
    await prisma.$executeRawUnsafe('DROP INDEX IF EXISTS audit_entries_chain_seq_key');
    try {
      for (const statement of tampering.split(';')) await prisma.$executeRawUnsafe(statement);
      const { body } = await api.call('GET', '/v1/audit/verify');
      expect(body.verified).toBe(false);
      expect(body.faults).toHaveLength(1);
      expect(body.faults?.[0]?.detail).toContain(words);
      if (seq !== '') expect(body.faults?.[0]).toMatchObject({ chain: 'platform', seq });
    } finally {
      for (const [table, kept] of [['audit_entries', 'kept_entries'], ['audit_heads', 'kept_heads']]) {
        await prisma.$executeRawUnsafe(`DELETE FROM ${table}`);
        await prisma.$executeRawUnsafe(`INSERT INTO ${table} SELECT * FROM ${kept}`);
        await prisma.$executeRawUnsafe(`DROP TABLE ${kept}`);
      }
    }
    expect((await api.call('GET', '/v1/audit/verify')).body.verified).toBe(true);
  });

  it('refuses update and delete through SQL', async () => {
    await prisma.$executeRawUnsafe('ALTER TABLE audit_entries ENABLE TRIGGER audit_entries_append_only');
    for (const statement of ['UPDATE audit_entries SET reason = NULL', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries']) {
      await expect(prisma.$executeRawUnsafe(statement)).rejects.toThrow('append-only');
    }
  });

  it('filters by entity, actor, action and time, newest first', async () => {
    const one = await api.call('GET', '/v1/audit?entity=class-7');
    expect(one.body.items).toHaveLength(1);
    expect(one.body.items?.[0]).toMatchObject({ entity: { type: 'endpoint-class', id: 'class-7' }, action: 'endpoint-class.create', before: null });
    expect((await api.call('GET', '/v1/audit?entity=endpoint-class:class-7&actor=bootstrap')).body.items).toHaveLength(1);
    expect((await api.call('GET', '/v1/audit?actor=nobody')).body.items).toEqual([]);
    expect((await api.call('GET', '/v1/audit?action=endpoint-class.create&limit=200')).body.items).toHaveLength(WRITERS);
    expect((await api.call('GET', '/v1/audit?from=2999-01-01T00:00:00Z')).body.items).toEqual([]);
  });
});
