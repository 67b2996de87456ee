import type { Policy } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';

/** Puts what the consumers' check needs into the Redis of `REDIS_URL`: classes, a tenant of 20 a minute and its key `demo-consumer`. */
const nowMs = Date.now();
const untilMs = nowMs + 86_400_000;
const source = 'tier:free@1';

const policy: Policy = {
  v: 1, tenant: 'consumer', revision: 1, status: 'active',
  segments: [{
    fromMs: nowMs - 60_000, untilMs, tier: 'free', tierVersion: 1, weight: 1, degraded: 'waive',
    limits: [{
      name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 1, windowMs: 60_000, burst: 20, mode: 'enforce',
      sources: { limit: source, burst: source },
    }],
    concurrency: { limit: null, source }, quotas: [], period: { id: '2026-01-01', startMs: nowMs - 60_000, endMs: untilMs }, part: 1,
  }],
};

const redis = connectLimitRedis(process.env['REDIS_URL'] ?? '');
await new Promise((resolve) => redis.once('ready', resolve));
const publisher = new PolicyPublisher({ redis });
const rule = { meter: 'requests', failMode: 'local', refundOn: [] } as const;
await publisher.publishClasses({ v: 1, revision: 1, classes: { default: { ...rule, cost: 1, refundOn: [] }, search: { ...rule, cost: 10, refundOn: [] } } });
await publisher.publishTenant({ policy, generation: 1, changeId: 'consumers' });
await publisher.publishKey(hashSecret('demo-consumer'), { tenant: 'consumer', keyId: 'k', userId: null, kind: 'customer' });
redis.disconnect();
