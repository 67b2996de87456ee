import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { redisKeys } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueCache } from '../catalogue-cache';
import { ChangeFeed } from '../change-feed';
import { followChanges } from '../follow-changes';
import { Heartbeat } from '../heartbeat';
import { KeyIndex } from '../key-index';
import { NodeDirectory } from '../node-directory';
import { PolicyCache } from '../policy-cache';
import { PolicyPublisher } from '../policy-publisher';
import { specCatalogue, specKey, specLists, specPolicy } from '../spec-policies';
import { StoreClock } from '../store-clock';
import { Wanted } from '../wanted';
import { GUARD_ACL_USER, guardAclRules } from './guard-acl';

const sha256 = 'a'.repeat(64);
const user = { username: GUARD_ACL_USER, password: 'a-password' };
/** What a command within a script is refused with, in Redis 7 and in Valkey. */
const REFUSED = /NOPERM|user executing the script can't/;
const soon = (): number => performance.now() + 1_000;

let store: TestStore;
let admin: TestClient;
let guard: TestClient;

it('is what docs/redis-keys.md tells to paste', () => {
  const page = readFileSync(new URL('../../../../docs/redis-keys.md', import.meta.url), 'utf8');
  expect(page).toContain(`\nACL SETUSER ${GUARD_ACL_USER} ${guardAclRules('PASSWORD').join(' ')}\n`);
});

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    await store.everywhere('ACL', 'SETUSER', user.username, ...guardAclRules(user.password));
    admin = await ready(store.connect());
    guard = await ready(store.connect(user));
  }, 30_000);
  afterAll(async () => {
    admin.disconnect();
    guard.disconnect();
    await store.stop();
  });
  beforeEach(() => store.flush());

  // Mutation: one selector with all keys and commands, or ~qp:* for the published keys.
  describe('what only the worker writes', () => {
    const published: readonly [key: string, write: string, ...args: string[]][] = [
      [redisKeys.head('acme'), 'SET', '9.9'],
      [redisKeys.policy('acme'), 'SET', '{}'],
      [redisKeys.subjects('acme'), 'HSET', 'user:u1', '{}'],
      [redisKeys.key(sha256), 'SET', JSON.stringify(specKey('acme'))],
      [redisKeys.classes, 'SET', '{}'],
      [redisKeys.fallback, 'SET', '{}'],
      [redisKeys.lists, 'SET', '{}'],
      [redisKeys.changes, 'XADD', '*', 'topic', 'tenant'],
      [redisKeys.journalAcks, 'HSET', 'node', '9'],
      ['qp:{acme}:b:requests:2026-11-01:1:1', 'HSET', 'plus', '9'],
    ];
    it.each(published)('%s is not written with %s, nor deleted, nor from within a script', async (key, write, ...args) => {
      await expect(guard.call(write, key, ...args)).rejects.toThrow('NOPERM');
      await expect(guard.call('DEL', key)).rejects.toThrow('NOPERM');
      await expect(guard.call('PEXPIRE', key, '1')).rejects.toThrow('NOPERM');
      const script = `return redis.call('${write}', KEYS[1], unpack(ARGV))`;
      await expect(guard.eval(script, 1, key, ...args)).rejects.toThrow(REFUSED);
      await admin.eval(script, 1, key, ...args);
      const sha1 = createHash('sha1').update(script).digest('hex');
      await expect(guard.evalsha(sha1, 1, key, ...args)).rejects.toThrow(REFUSED);
      await expect(guard.eval("return redis.pcall('DEL', KEYS[1])", 1, key)).rejects.toThrow(REFUSED);
      expect(await admin.exists(key)).toBe(1);
    });

    it('is not emptied with the rest by a script', async () => {
      await admin.set(redisKeys.head('acme'), '1.1');
      for (const command of ['FLUSHALL', 'FLUSHDB']) await expect(guard.eval(`return redis.call('${command}')`, 1, 'qp:{acme}:c:x')).rejects.toThrow(REFUSED);
      expect(await admin.get(redisKeys.head('acme'))).toBe('1.1');
    });

    it('is not replaced by renaming or copying a counter over it', async () => {
      await guard.set('qp:{acme}:c:x', '1');
      for (const command of ['RENAME', 'COPY']) await expect(guard.call(command, 'qp:{acme}:c:x', redisKeys.head('acme'))).rejects.toThrow('NOPERM');
      expect(await admin.exists(redisKeys.head('acme'))).toBe(0);
    });
  });

  it.each([
    ['FLUSHALL'], ['FLUSHDB'], ['KEYS', '*'], ['SCAN', '0'], ['RANDOMKEY'], ['CONFIG', 'GET', '*'], ['ACL', 'LIST'], ['MONITOR'], ['SHUTDOWN'], ['CLIENT', 'LIST'],
    ['SCRIPT', 'FLUSH'], ['FUNCTION', 'LOAD', '#!lua name=x\n'], ['SUBSCRIBE', 'x'], ['PUBLISH', 'x', 'y'], ['GET', 'not-ours'], ['SET', '{qp-jobs}:x', '1'], ['GET', '{qp-jobs}:x'],
  ])('%s %s is refused', async (command, ...args) => {
    const client = await ready(store.connect(user));
    await expect(client.call(command, ...args)).rejects.toThrow('NOPERM');
    client.disconnect();
  });

  it('does all that a node does: caches, feed, heartbeat, directory and wanted', async () => {
    const publisher = new PolicyPublisher({ redis: admin });
    await publisher.publishTenant({ policy: specPolicy('acme', 1), generation: 1, changeId: '' });
    await publisher.publishKey(sha256, specKey('acme'));
    await publisher.publishClasses(specCatalogue(1));
    await publisher.publishLists(specLists(1));
    const failures: unknown[] = [];
    const onError = (error: unknown): unknown => failures.push(error);
    const wanted = new Wanted({ redis: guard, onError });
    const policies = new PolicyCache({ redis: guard, onError });
    const catalogue = new CatalogueCache({ redis: guard, wanted, onError });
    const keys = new KeyIndex({ redis: guard, wanted, feed: { isCurrent: true }, onError });
    const feed = new ChangeFeed({ connect: () => store.connect(user), handler: followChanges({ policies, keys, catalogue }), onError });
    const directory = new NodeDirectory({ redis: guard, kind: 'service', expectedNodes: 1, onError });
    const node = { incarnation: randomUUID(), service: 'echo', kind: 'service', version: '1', host: 'here', pid: 1, startedAtMs: 1 } as const;
    const heartbeat = new Heartbeat({ redis: guard, node, clock: new StoreClock(), position: () => feed.position, mode: () => 'healthy', onError });
    await feed.start();
    await Promise.all([catalogue.refresh(), heartbeat.beat()]);
    await directory.refresh();
    expect(await policies.load('acme')).toMatchObject({ status: 'loaded' });
    expect(await keys.lookup(sha256, soon())).toMatchObject({ status: 'found' });
    expect([catalogue.classes(), catalogue.lists()]).toEqual([specCatalogue(1), specLists(1)]);
    expect(directory.incarnations).toEqual([node.incarnation]);
    await expect.poll(() => admin.smembers(redisKeys.wanted)).toEqual(['fallback']);
    const { position } = await publisher.publishTenant({ policy: specPolicy('acme', 2), generation: 1, changeId: '' });
    await expect.poll(() => [feed.position, policies.get('acme')?.isStale]).toEqual([position, true]);
    await Promise.all([heartbeat.stop(), feed.stop()]);
    expect(failures).toEqual([]);
  });

  it('may be given again, with another password', async () => {
    await store.everywhere('ACL', 'SETUSER', user.username, ...guardAclRules('another'));
    const client = await ready(store.connect({ ...user, password: 'another' }));
    await expect(client.set(redisKeys.head('acme'), '1')).rejects.toThrow('NOPERM');
    client.disconnect();
    await store.everywhere('ACL', 'SETUSER', user.username, ...guardAclRules(user.password));
  });
});
