import { setImmediate as nextTurn } from 'node:timers/promises';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { startRedis } from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { createLimiter } from '../index';
import { limitOf, policyOf } from './policies';

const DECISIONS = 2000;
const LIMIT = 900;

// Mutation: count every round alike, whether it brought a newer head or not.
it('P01 decides by the store however fast a tenant is edited, and admits exactly the limit', async () => {
  const redis = await startRedis();
  const client = connectLimitRedis(redis.url);
  await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  const publisher = new PolicyPublisher({ redis: client });
  const limits = [limitOf({ limit: LIMIT, burst: LIMIT, windowMs: 86_400_000 })];
  let revision = 0;
  const publish = (): Promise<unknown> => publisher.publishTenant({ policy: policyOf({ tenant: 'edited', revision: (revision += 1), limits }), generation: 1, changeId: '' });
  await publish();
  const limiter = await createLimiter({ redisUrl: redis.url, service: 'edits', storeBudgetMs: 1000, logger: { warn: () => undefined, error: () => undefined } });
  let isOver = false;
  const edits = (async () => {
    while (!isOver) {
      await publish();
      await nextTurn();
    }
  })();
  try {
    const sources = new Map<string, number>();
    let allowed = 0;
    for (let decision = 0; decision < DECISIONS; decision += 1) {
      const { outcome, source } = await limiter.decide({ tenant: 'edited' });
      sources.set(source, (sources.get(source) ?? 0) + 1);
      if (outcome === 'allowed') allowed += 1;
    }
    expect(revision).toBeGreaterThan(100);
    expect([...sources]).toEqual([['store', DECISIONS]]);
    expect(allowed).toBe(LIMIT);
  } finally {
    isOver = true;
    await edits;
    await limiter.close();
    client.disconnect();
    await redis.stop();
  }
}, 60_000);
