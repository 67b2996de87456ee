import { expect, it } from 'vitest';
import { parseRedisUrl, RedisUrlError } from './redis-url';

it('leaves one URL of any form as it is', () => {
  for (const url of ['redis://127.0.0.1:6379', 'rediss://user:secret@store.example/2', '/run/redis.sock', 'localhost:6379', 'redis://h:1?family=6']) {
    expect(parseRedisUrl(url)).toEqual({ kind: 'single', url });
  }
});

it('takes a list of URLs, or one with ?cluster=true, for a Redis Cluster', () => {
  expect(parseRedisUrl('redis://a:7000, redis://b ,redis://[::1]:7002')).toEqual({
    kind: 'cluster', nodes: [{ host: 'a', port: 7000 }, { host: 'b', port: 6379 }, { host: '::1', port: 7002 }], credentials: {},
  });
  expect(parseRedisUrl('redis://seed.example:7000/?cluster=true')).toMatchObject({ kind: 'cluster', nodes: [{ host: 'seed.example', port: 7000 }] });
});

it('uses the first user, password and TLS for every node', () => {
  expect(parseRedisUrl('rediss://guard:p%40ss@a:1,rediss://b:2')).toMatchObject({ credentials: { username: 'guard', password: 'p@ss', tls: {} } });
  expect(parseRedisUrl('redis://a:1,redis://:word@b:2')).toMatchObject({ credentials: { password: 'word' } });
});

it('refuses what no cluster has, without telling the password', () => {
  for (const url of ['', ' , ', 'redis://a:1/3,redis://b:2', 'http://:secret@a,http://b', 'redis://a:1,:secret@@', 'redis://a:99999,redis://b']) {
    expect(() => parseRedisUrl(url)).toThrow(RedisUrlError);
    expect(() => parseRedisUrl(url)).not.toThrow('secret');
  }
});
