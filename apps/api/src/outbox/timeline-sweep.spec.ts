import { redisKeys, type Policy } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutboxRig } from './outbox-rig';
import { TimelineSweep } from './timeline-sweep';

const DAY_MS = 86_400_000;

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

it('publishes a timeline again before it ends, and leaves the others alone', async () => {
  const tier = await rig.tier('free');
  for (const slug of ['near', 'far']) await rig.tenant(slug, tier);
  await rig.tenants.publish(['near', 'far']);
  const clock = new TestClock(Date.now());
  const sweep = new TimelineSweep(rig.prisma, rig.tenants, clock);
  expect(await sweep.run()).toBe(0);

  await rig.prisma.tenant.update({ where: { slug: 'near' }, data: { coveredUntil: new Date(Date.now() + 300 * DAY_MS) } });
  expect(await sweep.run()).toBe(1);
  expect([await rig.redis.get(redisKeys.head('near')), await rig.redis.get(redisKeys.head('far'))]).toEqual(['2.1', '1.1']);
  const policy = JSON.parse((await rig.redis.get(redisKeys.policy('near'))) ?? 'null') as Policy;
  const { coveredUntil } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug: 'near' } });
  expect(coveredUntil?.getTime()).toBe(policy.segments.at(-1)?.untilMs);
  expect((coveredUntil?.getTime() ?? 0) - Date.now()).toBeGreaterThan(365 * DAY_MS);

  // At the first of a month a timeline reaches furthest: 97 days past what must be ahead.
  clock.advance(100 * DAY_MS);
  expect(await sweep.run()).toBe(2);
});
