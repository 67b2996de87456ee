import { afterAll, beforeAll } from 'vitest';
import { call, type Answer } from '../../story/rig/http-call';
import { byStore, control, peek, platform } from '../../story/rig/story';
import { until } from '../../story/rig/patience';
import type { TierContent } from '@quotaplane/contracts';
import { startBalancer, type Balancer } from './balancer';

export { control };
export const nodeUrls: readonly string[] = platform.echoUrls;

/** A balancer over the first `nodes` of the fleet, for one spec file. */
export function balanced(nodes: number): { readonly url: string } {
  let balancer: Balancer | undefined;
  beforeAll(async () => {
    balancer = await startBalancer(nodeUrls.slice(0, nodes));
  });
  afterAll(() => balancer?.stop());
  return {
    get url() {
      return balancer?.url ?? '';
    },
  };
}

/** A fresh tenant on a fresh tier of that content, known to every node before the first count. */
export async function tenantOn(name: string, content: Partial<TierContent>): Promise<{ slug: string; key: string; tier: string }> {
  const tier = await control.tier(name, content);
  const tenant = await control.tenant(name, tier);
  for (const url of nodeUrls) await until(`${name} known at ${url}`, 10_000, async () => byStore([await peek(url, tenant.key)]).length === 1);
  return { ...tenant, tier };
}

export const echo = (url: string, key: string): Promise<Answer> => call(`${url}/echo`, { key });
