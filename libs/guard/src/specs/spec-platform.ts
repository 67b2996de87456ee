import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { startRedis } from '@quotaplane/testing';
import { hashSecret } from '../key-format';
import type { QuotaplaneOptions } from '../index';
import { catalogueOf, publish, type PolicyParts } from './policies';

export interface SpecPlatform {
  readonly redisUrl: string;
  /** Options of a service on this platform; a busy machine gets a long store budget. */
  readonly options: QuotaplaneOptions;
  readonly publisher: PolicyPublisher;
  readonly client: ReturnType<typeof connectLimitRedis>;
  pause(): void;
  resume(): void;
  /** Publishes a tenant with the key `demo-<name>`, and answers the header that carries it. */
  tenantWith(name: string, parts?: Omit<PolicyParts, 'tenant'>, kind?: 'customer' | 'service'): Promise<{ readonly 'X-Api-Key': string }>;
  stop(): Promise<void>;
}

/** A real Redis with the classes that the specs use, and what publishes into it. */
export async function startPlatform(): Promise<SpecPlatform> {
  const redis = await startRedis();
  const client = connectLimitRedis(redis.url);
  await new Promise((resolve) => client.once('ready', () => resolve(undefined)));
  const publisher = new PolicyPublisher({ redis: client });
  await publisher.publishClasses(catalogueOf(), 'c');
  return {
    redisUrl: redis.url,
    options: { redisUrl: redis.url, service: 'probe', storeBudgetMs: 1000 },
    publisher,
    client,
    pause: () => redis.pause(),
    resume: () => redis.resume(),
    tenantWith: async (name, parts = {}, kind = 'customer') => {
      await publish(publisher, { ...parts, tenant: name });
      await publisher.publishKey(hashSecret(`demo-${name}`), { tenant: name, keyId: `key-${name}`, userId: null, kind });
      return { 'X-Api-Key': `demo-${name}` };
    },
    stop: async () => {
      client.disconnect();
      await redis.stop();
    },
  };
}

/** A logger that says nothing, or keeps what it is told. */
export const quietLogger = (lines: string[] = []): { warn(line: string): void; error(line: string): void } => ({
  warn: (line) => void lines.push(line),
  error: (line) => void lines.push(line),
});
