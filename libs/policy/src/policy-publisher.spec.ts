import { KEY_TOMBSTONE, parseHead, policySchema, redisKeys } from '@quotaplane/contracts';
import { TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PolicyPublisher } from './policy-publisher';
import { specCatalogue, specKey, specPolicy } from './spec-policies';
import { PublishError } from './store-errors';

let store: TestStore;
let redis: TestClient;
let publisher: PolicyPublisher;

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    redis = store.connect();
    publisher = new PolicyPublisher({ redis });
  }, 30_000);
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });
  beforeEach(() => store.flush());

  const publish = (revision: number, generation = 1, changeId = '') => publisher.publishTenant({ policy: specPolicy('hobby', revision), generation, changeId });
  const head = (): Promise<string | null> => redis.get(redisKeys.head('hobby'));
  const heldRevision = async (): Promise<number> => policySchema.parse(JSON.parse((await redis.get(redisKeys.policy('hobby'))) ?? '')).revision;
  const sha256 = 'a'.repeat(64);

  describe('publishTenant', () => {
    it('writes head and policy without TTL and announces them', async () => {
      const published = await publish(1, 1, 'change-1');
      expect(published).toMatchObject({ isWritten: true, revision: 1, generation: 1, isRedisAhead: false });
      expect([await head(), await redis.pttl(redisKeys.head('hobby')), await redis.pttl(redisKeys.policy('hobby'))]).toEqual(['1.1', -1, -1]);
      expect(await redis.xrange(redisKeys.changes, '-', '+')).toEqual([[published.position, ['topic', 'tenant', 'subject', 'hobby', 'revision', '1.1', 'changeId', 'change-1']]]);
    });

    it('is idempotent and announces a redelivery again', async () => {
      const first = await publish(1);
      const again = await publish(1);
      expect(again).toMatchObject({ isWritten: false, isRedisAhead: false, revision: 1 });
      expect(again.position).not.toBe(first.position);
      expect(await redis.xlen(redisKeys.changes)).toBe(2);
    });

    // Mutation: read head or overrides with call instead of pcall, or believe a head of any length.
    it('overwrites what is no head, no overrides, no document and no entry of ours', async () => {
      const subjects = new Map([['key:k1', { v: 1 as const, segments: [{ fromMs: 0, untilMs: 1, limits: [] }] }]]);
      for (const isHead of [true, false]) {
        await store.flush();
        if (isHead) await redis.rpush(redisKeys.head('hobby'), 'x');
        else await redis.set(redisKeys.head('hobby'), `${'9'.repeat(20)}.${'9'.repeat(20)}`);
        await redis.set(redisKeys.subjects('hobby'), 'x');
        expect(await publisher.publishTenant({ policy: specPolicy('hobby', 3), generation: 2, subjects, changeId: '' })).toMatchObject({ isWritten: true, isRedisAhead: false });
        expect([await head(), await heldRevision(), await redis.hexists(redisKeys.subjects('hobby'), 'key:k1')]).toEqual(['3.2', 3, 1]);
      }
      await redis.sadd(redisKeys.key(sha256), 'x');
      await redis.rpush(redisKeys.classes, 'x');
      await redis.set(redisKeys.lists, '{"revision":1e300}');
      expect(await publisher.publishKey(sha256, specKey('hobby'))).toMatchObject({ isWritten: true });
      expect(await publisher.publishClasses(specCatalogue(1))).toMatchObject({ isWritten: true, revision: 1, isRedisAhead: false });
      expect(await publisher.publishLists({ v: 1, revision: 1, entries: [] })).toMatchObject({ isWritten: true, revision: 1, isRedisAhead: false });
    });

    // Mutation: SET in publish-policy.lua without the comparison.
    it('never lets an older revision overwrite a newer one, with 50 publishers at once', async () => {
      const clients = Array.from({ length: 5 }, () => store.connect());
      const revisions = Array.from({ length: 50 }, (_, index) => ((index * 37) % 50) + 1);
      const published = await Promise.all(revisions.map((revision, index) => {
        const own = new PolicyPublisher({ redis: clients[index % clients.length] ?? redis });
        return own.publishTenant({ policy: specPolicy('hobby', revision), generation: 1, changeId: '' });
      }));
      expect([await head(), await heldRevision()]).toEqual(['50.1', 50]);
      const announced = new Map((await redis.xrange(redisKeys.changes, '-', '+')).map(([id, fields]) => [id, parseHead(fields[5] ?? '')?.revision ?? 0]));
      expect(announced.size).toBe(50);
      // Each is told at least of its own revision, so that a receipt for its entry is a receipt for its change.
      published.forEach(({ position }, index) => expect(announced.get(position)).toBeGreaterThanOrEqual(revisions[index] ?? Infinity));
      clients.forEach((client) => client.disconnect());
    });

    it('shows head and policy of one revision to every reader while it is published', async () => {
      const reader = store.connect();
      const readings = (async () => {
        for (let index = 0; index < 100; index += 1) {
          const [heldHead, policy] = await reader.mget(redisKeys.head('hobby'), redisKeys.policy('hobby'));
          if (heldHead && policy) expect(parseHead(heldHead)?.revision).toBe(policySchema.parse(JSON.parse(policy)).revision);
        }
      })();
      for (let revision = 1; revision <= 100; revision += 1) await publish(revision);
      await readings;
      reader.disconnect();
    });

    it('publishes the same revision under a higher generation', async () => {
      await publish(3, 1);
      expect(await publish(3, 2)).toMatchObject({ isWritten: true, generation: 2 });
      expect(await head()).toBe('3.2');
    });

    it('tells that Redis is ahead in revision or generation, and leaves it as it is', async () => {
      await publish(9, 2);
      expect(await publish(4, 2)).toMatchObject({ isWritten: false, isRedisAhead: true, revision: 9, generation: 2 });
      expect(await publish(10, 1)).toMatchObject({ isWritten: false, isRedisAhead: true, revision: 9, generation: 2 });
      expect(await publish(10, 2)).toMatchObject({ isWritten: true, isRedisAhead: false });
    });

    it('writes a policy that was lost beside its head', async () => {
      await publish(2);
      await redis.del(redisKeys.policy('hobby'));
      expect(await publish(2)).toMatchObject({ isWritten: true });
      expect(await heldRevision()).toBe(2);
    });

    it('keeps revisions near 2^53 exact', async () => {
      const large = 999_999_999_999_999;
      expect(await publish(large)).toMatchObject({ revision: large });
      expect(await head()).toBe(`${large}.1`);
    });

    it('survives a flushed script cache', async () => {
      await publish(1);
      await store.flushScripts();
      expect(await publish(2)).toMatchObject({ isWritten: true });
    });

    // Mutation: announce only what was written.
    it('heals a crash between the keys and the feed when the change is delivered again', async () => {
      await redis.set(redisKeys.changes, 'no stream: XADD fails as after a crash');
      await expect(publish(1, 1, 'change-1')).rejects.toThrow(PublishError);
      expect(await head()).toBe('1.1');
      await redis.del(redisKeys.changes);
      const again = await publish(1, 1, 'change-1');
      expect(again).toMatchObject({ isWritten: false, isRedisAhead: false });
      expect(await redis.xrange(redisKeys.changes, '-', '+')).toEqual([[again.position, ['topic', 'tenant', 'subject', 'hobby', 'revision', '1.1', 'changeId', 'change-1']]]);
    });

    it('rejects with PublishError when Redis is gone', async () => {
      const road = await store.road();
      const gone = road.connect();
      await expect(new PolicyPublisher({ redis: gone }).publishTenant({ policy: specPolicy('hobby', 1), generation: 1, changeId: '' })).rejects.toThrow(PublishError);
      gone.disconnect();
      await road.stop();
    });
  });

  describe('unknown and deleted tenants', () => {
    it('answers an unknown slug for 60 s, only where there is no head, and announces nothing', async () => {
      expect(await publisher.answerUnknown('hobby')).toBe(true);
      expect(await head()).toBe('unknown');
      expect(await redis.pttl(redisKeys.head('hobby'))).toBeGreaterThan(59_000);
      await publish(1);
      expect(await publisher.answerUnknown('hobby')).toBe(false);
      expect([await head(), await redis.xlen(redisKeys.changes)]).toEqual(['1.1', 1]);
    });

    it('ends the 60 s of an unknown slug when the tenant is created', async () => {
      await publisher.answerUnknown('hobby');
      await publish(1);
      expect(await redis.pttl(redisKeys.head('hobby'))).toBe(-1);
    });

    it('leaves a tombstone without TTL and no policy, and lets a restored tenant back', async () => {
      await publish(1);
      expect(await publisher.publishDeleted({ tenant: 'hobby', changeId: 'c' })).toMatchObject({ isWritten: true });
      expect([await head(), await redis.pttl(redisKeys.head('hobby')), await redis.exists(redisKeys.policy('hobby'))]).toEqual(['deleted', -1, 0]);
      expect(await publisher.publishDeleted({ tenant: 'hobby', changeId: 'c' })).toMatchObject({ isWritten: false });
      expect(await publish(2)).toMatchObject({ isWritten: true, revision: 2 });
    });
  });

  describe('key index', () => {
    const entry = (): Promise<string | null> => redis.get(redisKeys.key(sha256));

    it('replaces the 60 s tombstone of a miss by a record without TTL', async () => {
      expect(await publisher.answerUnknownKey(sha256)).toBe(true);
      expect(await redis.pttl(redisKeys.key(sha256))).toBeGreaterThan(59_000);
      expect(await publisher.publishKey(sha256, specKey('hobby'), 'c')).toMatchObject({ isWritten: true });
      expect([JSON.parse((await entry()) ?? ''), await redis.pttl(redisKeys.key(sha256))]).toEqual([specKey('hobby'), -1]);
      expect(await publisher.answerUnknownKey(sha256)).toBe(false);
    });

    // Mutation: publish-key.lua without is_revoked.
    it('keeps a revocation 40 days, whatever a slower publisher brings later', async () => {
      await publisher.publishKey(sha256, specKey('hobby'));
      expect(await publisher.publishKey(sha256, null, 'c')).toMatchObject({ isWritten: true });
      expect(await publisher.publishKey(sha256, specKey('hobby'))).toMatchObject({ isWritten: false });
      expect(await entry()).toBe(KEY_TOMBSTONE);
      expect(await redis.pttl(redisKeys.key(sha256))).toBeGreaterThan(39 * 86_400_000);
    });
  });

  describe('platform-wide documents', () => {
    it('never goes back in revision, says so, and overwrites damage', async () => {
      expect(await publisher.publishClasses(specCatalogue(2))).toMatchObject({ isWritten: true, revision: 2 });
      expect(await publisher.publishClasses(specCatalogue(1))).toMatchObject({ isWritten: false, revision: 2, isRedisAhead: true });
      await redis.set(redisKeys.classes, '{');
      expect(await publisher.publishClasses(specCatalogue(1))).toMatchObject({ isWritten: true, revision: 1, isRedisAhead: false });
    });

    it('writes the fallback anew under its revision and announces it', async () => {
      await publisher.publishFallback(specPolicy('anonymous', 3, 10));
      const again = await publisher.publishFallback(specPolicy('anonymous', 3, 20), 'c');
      expect(again).toMatchObject({ isWritten: true, revision: 3 });
      expect((await redis.xrange(redisKeys.changes, '-', '+')).at(-1)).toEqual([again.position, ['topic', 'fallback', 'subject', '', 'revision', '3', 'changeId', 'c']]);
    });
  });
});
