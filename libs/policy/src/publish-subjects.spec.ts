import { redisKeys, subjectField, subjectPolicySchema, type SubjectPolicy } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PolicyPublisher } from './policy-publisher';
import type { TenantPublished } from './publish-replies';
import { publishSubjects } from './publish-subjects';
import { runScript } from './run-script';
import { specPolicy } from './spec-policies';
import { PublishError } from './store-errors';
import type { ScriptName } from './lua/scripts.generated';

const key = redisKeys.subjects('acme');
const subject = (limit: number): SubjectPolicy =>
  ({ v: 1, segments: [{ fromMs: 0, untilMs: 1_000, limits: [{ name: 'per-user', limit, burst: limit, sources: { limit: `override:${limit}`, burst: `override:${limit}` } }] }] });
const users = (count: number, limit = 5): Map<string, SubjectPolicy> =>
  new Map(Array.from({ length: count }, (_, index) => [subjectField('user', `u${index}`), subject(limit)]));

let store: TestStore;
let redis: TestClient;
let publisher: PolicyPublisher;
/** Scripts that the last publication ran, and how many fields each was given. */
let ran: { script: ScriptName; fields: number }[];

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    redis = await ready(store.connect());
    publisher = new PolicyPublisher({ redis });
  }, 30_000);
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });
  beforeEach(() => store.flush());

  const run = (script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> => {
    ran.push({ script, fields: script === 'write-subjects' ? (args.length - 3) / 2 : 0 });
    return runScript(redis, script, keys, args);
  };
  const publish = (revision: number, subjects: Map<string, SubjectPolicy>, generation = 1): Promise<TenantPublished> =>
    publisher.publishTenant({ policy: specPolicy('acme', revision), generation, subjects, changeId: '' });
  const write = (revision: number, subjects: Map<string, SubjectPolicy>, generation = 1): Promise<boolean> => {
    ran = [];
    return publishSubjects(run, { tenant: 'acme', revision, generation, subjects });
  };
  const held = async (): Promise<Map<string, SubjectPolicy>> => {
    const fields = Object.entries(await redis.hgetall(key)).filter(([name]) => !name.startsWith('#'));
    return new Map(fields.map(([name, text]) => [name, subjectPolicySchema.parse(JSON.parse(text))]));
  };
  const head = (): Promise<string | null> => redis.get(redisKeys.head('acme'));
  const writtenFields = (): number => ran.reduce((sum, { fields }) => sum + fields, 0);

  it('writes exactly the overrides of the present revision, then policy and head', async () => {
    expect(await publish(1, users(3))).toMatchObject({ isWritten: true, revision: 1 });
    expect([await held(), await head(), await redis.hget(key, '#revision'), await redis.pttl(key)]).toEqual([users(3), '1.1', '1.1', -1]);
    await publish(2, new Map([...users(2, 9), [subjectField('key', 'k'), subject(1)]]));
    expect(await held()).toEqual(new Map([...users(2, 9), [subjectField('key', 'k'), subject(1)]]));
    expect(await head()).toBe('2.1');
  });

  it('sends nothing when nothing differs, and one part of 256 when one does', async () => {
    const many = users(2_000);
    await write(1, many);
    expect(writtenFields()).toBe(2_000);
    expect(await write(2, many)).toBe(true);
    expect(ran.map(({ script }) => script)).toEqual(['open-subjects']);
    many.set(subjectField('user', 'u7'), subject(6));
    await write(3, many);
    expect(writtenFields()).toBeLessThan(40);
    expect(await held()).toEqual(many);
  });

  it('removes what is no longer overridden, of many, and leaves no hash behind with the last', async () => {
    const many = users(1_500);
    await publish(1, many);
    for (const id of ['u3', 'u700']) many.delete(subjectField('user', id));
    await publish(2, many);
    expect(await held()).toEqual(many);
    await publish(3, new Map());
    expect([await redis.exists(key), await head()]).toEqual([0, '3.1']);
  });

  // Mutation: write-subjects without the comparison of #revision.
  it('never lets an older publisher overwrite newer ones, before their head is written and after', async () => {
    await write(5, users(3, 50));
    expect(await write(4, users(3, 40))).toBe(false);
    expect(await held()).toEqual(users(3, 50));
    await publish(5, users(3, 50));
    await redis.hdel(key, '#revision');
    expect([await write(4, users(3, 40)), await write(6, users(3, 40), 0)]).toEqual([false, false]);
    expect(await held()).toEqual(users(3, 50));
  });

  it('stops a publisher that is overtaken on its way', async () => {
    let isOvertaken = false;
    const overtaking = async (script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> => {
      if (script === 'write-subjects' && !isOvertaken) {
        isOvertaken = true;
        await write(2, users(300, 20));
      }
      return runScript(redis, script, keys, args);
    };
    expect(await publishSubjects(overtaking, { tenant: 'acme', revision: 1, generation: 1, subjects: users(300, 10) })).toBe(false);
    expect(await held()).toEqual(users(300, 20));
  });

  it('publishes no head over overrides that are not its own, and says so', async () => {
    await publish(1, users(3));
    await write(3, users(3, 30));
    await expect(publish(2, users(3, 20))).rejects.toThrow(PublishError);
    expect(await head()).toBe('1.1');
    // An older publisher without any must not take them away either.
    expect(await publish(2, new Map())).toMatchObject({ isWritten: true });
    expect(await held()).toEqual(users(3, 30));
    expect(await publish(3, users(3, 30))).toMatchObject({ isWritten: true });
  });

  // Mutation: write a bucket's digest with its first chunk.
  it('begins again where it was interrupted, removals too', async () => {
    await write(1, users(2_000));
    const wanted = new Map([...users(1_990, 7)]);
    const crashes: readonly ((script: ScriptName, call: number) => boolean)[] = [
      (_script, call) => call > 2, (_script, call) => call > 40, (script) => script === 'scan-subjects', (_script, call) => call > 262, (_script, call) => call > 300,
    ];
    for (const isCrash of crashes) {
      let call = 0;
      const crashing = (script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> =>
        (isCrash(script, (call += 1)) ? Promise.reject(new Error('crash')) : runScript(redis, script, keys, args));
      await expect(publishSubjects(crashing, { tenant: 'acme', revision: 2, generation: 1, subjects: wanted })).rejects.toThrow('crash');
    }
    await write(2, wanted);
    expect(await held()).toEqual(wanted);
    await write(2, wanted);
    expect(writtenFields()).toBe(0);
  });

  it('goes with a deleted tenant', async () => {
    await publish(1, users(3));
    await publisher.publishDeleted({ tenant: 'acme', changeId: '' });
    expect(await redis.exists(key)).toBe(0);
  });
});

// On a busy machine of two cores the first takes 3.0 s, each later change 1.4 s, nearly all of it hashing in turns of a few ms.
it('stays possible with 100,000 overrides: a change of one is small', async () => {
  const { start } = TEST_STORES[0];
  store = await start();
  redis = await ready(store.connect());
  const many = users(100_000);
  let sentFields = 0;
  let longestMs = 0;
  const run = async (script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> => {
    sentFields += script === 'write-subjects' ? (args.length - 3) / 2 : 0;
    const startedAtMs = performance.now();
    const reply = await runScript(redis, script, keys, args);
    longestMs = Math.max(longestMs, performance.now() - startedAtMs);
    return reply;
  };
  const write = async (revision: number): Promise<void> => {
    [sentFields, longestMs] = [0, 0];
    expect(await publishSubjects(run, { tenant: 'acme', revision, generation: 1, subjects: many })).toBe(true);
  };
  await write(1);
  expect(sentFields).toBe(100_000);
  expect(longestMs).toBeLessThan(2_000);
  many.set(subjectField('user', 'u500'), subject(6));
  await write(2);
  expect(sentFields).toBeLessThan(1_000);
  many.delete(subjectField('user', 'u500'));
  await write(3);
  expect(await redis.hexists(redisKeys.subjects('acme'), subjectField('user', 'u500'))).toBe(0);
  redis.disconnect();
  await store.stop();
}, 60_000);
