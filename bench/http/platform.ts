import type { CompiledLimit, Policy } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { startRedis } from '@quotaplane/testing';
import { ALLOWANCE, DAY_MS, FEW, MINUTE_MS, PLENTY } from './apps/rules';

const CLASS = { cost: 1, meter: 'requests', failMode: 'local', refundOn: [] } as const;

export interface BenchPlatform {
  readonly redisUrl: string;
  stop(): Promise<void>;
}

/** A Redis for all contenders, with the policies of our tenants published as the worker does it. The key of each is `demo-<tenant>`. */
export async function startPlatform(tenants: readonly string[]): Promise<BenchPlatform> {
  const server = await startRedis({ config: ['save ""', 'appendonly no'] });
  const redis = connectLimitRedis(server.url);
  await new Promise((resolve) => redis.once('ready', () => resolve(undefined)));
  const publisher = new PolicyPublisher({ redis });
  await publisher.publishClasses({ v: 1, revision: 1, classes: { default: { ...CLASS, refundOn: [] }, few: { ...CLASS, refundOn: [] } } }, 'classes');
  for (const tenant of tenants) {
    await publisher.publishTenant({ policy: policyOf(tenant), generation: 1, changeId: tenant });
    await publisher.publishKey(hashSecret(`demo-${tenant}`), { tenant, keyId: `key-${tenant}`, userId: null, kind: 'customer' });
  }
  return {
    redisUrl: server.url,
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}

/** One limit per user on the plain route, a small one besides on the other, and a monthly quota over both. */
function policyOf(tenant: string): Policy {
  const nowMs = Date.now();
  return {
    v: 1, tenant, revision: 1, status: 'active',
    segments: [{
      fromMs: nowMs - DAY_MS, untilMs: nowMs + 20 * DAY_MS, tier: 'free', tierVersion: 1, weight: 1, degraded: 'bill',
      limits: [limitOf({ name: 'per-minute', limit: PLENTY, windowMs: MINUTE_MS, burst: PLENTY }), limitOf({ name: 'few', limit: FEW, windowMs: DAY_MS, burst: FEW, endpointClass: 'few' })],
      concurrency: { limit: null, source: 'tier:free@1' },
      quotas: [{ meter: 'requests', allowance: ALLOWANCE, overage: 'reject', sources: { allowance: 'tier:free@1' } }],
      period: { id: '2026-11-01', startMs: nowMs - 10 * DAY_MS, endMs: nowMs + 20 * DAY_MS }, part: 1,
    }],
  };
}

function limitOf(parts: Pick<CompiledLimit, 'name' | 'limit' | 'windowMs' | 'burst'> & Partial<CompiledLimit>): CompiledLimit {
  return { algorithm: 'token-bucket', scope: 'user', mode: 'enforce', sources: { limit: 'tier:free@1', burst: 'tier:free@1' }, ...parts };
}
