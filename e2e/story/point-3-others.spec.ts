import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyRecord, Override, Tenant, TenantPolicy } from '@quotaplane/contracts';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { freshSlug } from './rig/control-plane';
import { call, type Answer } from './rig/http-call';
import { limitItems, limitOf } from './rig/limit-fields';
import { until } from './rig/patience';
import { control, echoUrl, otherEchoUrl, peek, PER_MINUTE, platform, untilUntouched } from './rig/story';

const OTHERS = ['acme', 'globex'] as const;

interface Standing {
  readonly policy: TenantPolicy;
  readonly remaining: number;
  readonly policyField: string;
}

async function standingOf(tenant: string): Promise<Standing> {
  const answer = await peek(otherEchoUrl, `demo-${tenant}`);
  return { policy: await control.policyOf(tenant), remaining: limitOf(answer, PER_MINUTE).remaining, policyField: String(answer.headers['ratelimit-policy']) };
}

describe('point 3: nobody else is touched', () => {
  it('leaves policy, revision and counters of acme and globex as they were while hobby is raised and denied', async () => {
    for (const tenant of OTHERS) await untilUntouched(echoUrl, `demo-${tenant}`);
    const before = await Promise.all(OTHERS.map(standingOf));
    const raised = await control.raise('hobby', { limits: { 'per-minute': { limit: 500, burst: 60 } }, quotas: { requests: { allowance: 2_000_000 } } });
    const receipts = await control.untilLive(raised.changeId);
    expect(receipts.revisions.map(({ tenant }) => tenant)).toEqual(['hobby']);
    await Promise.all(Array.from({ length: 90 }, (_, index) => call(`${index % 2 ? echoUrl : otherEchoUrl}/echo`, { key: 'demo-hobby' })));
    const reverted = await control.post<Override>(`/v1/overrides/${raised.id}/revert`, { reason: 'end of the story' });
    await control.untilLive(reverted.changeId);
    expect(await Promise.all(OTHERS.map(standingOf))).toEqual(before);
  });

  it('judges a caller without a key by the anonymous tier, an unknown key not at all', async () => {
    const anonymous = await call(`${echoUrl}/echo`);
    expect(limitItems(anonymous, 'RateLimit-Policy').map(({ name }) => name)).toEqual(['global-per-second', 'per-address']);
    for (const key of ['demo-nobody', 'qpk_garbage', 'x'.repeat(500)]) {
      const stranger = await call(`${echoUrl}/echo`, { key });
      expect([stranger.status, JSON.parse(stranger.body)]).toEqual([401, expect.objectContaining({ code: 'unauthenticated', status: 401 })]);
    }
  });

  it('falls to the fallback tier for a tenant that the platform does not know, and to another as soon as the setting names it', async () => {
    const key = await keyOfNobody();
    for (const url of platform.echoUrls) await until('the fallback tier', 5000, async () => limitNames(await peek(url, key)) === FALLBACK, 100);
    const settings = await control.ask<{ fallbackTier: string }>('GET', '/v1/settings');
    const changed = await control.ask<{ changeId: string }>('PATCH', '/v1/settings', { ifMatch: settings.etag, body: { fallbackTier: 'free' } });
    try {
      await control.untilLive(changed.body.changeId);
      for (const url of platform.echoUrls) await until('the new fallback tier', 2000, async () => limitNames(await peek(url, key)) === 'per-minute month');
    } finally {
      const now = await control.ask('GET', '/v1/settings');
      const back = await control.ask<{ changeId: string }>('PATCH', '/v1/settings', { ifMatch: now.etag, body: { fallbackTier: settings.body.fallbackTier } });
      await control.untilLive(back.body.changeId);
    }
    for (const url of platform.echoUrls) await until('the fallback tier again', 2000, async () => limitNames(await peek(url, key)) === FALLBACK);
  });

  it('never judges a deleted tenant by its old limits, and refuses its keys within 2 s', async () => {
    const { slug, key } = await control.tenant('leaver', 'pro');
    for (const url of platform.echoUrls) expect(limitOf(await peek(url, key), PER_MINUTE).capacity).toBe(100);
    const { etag } = await control.ask('GET', `/v1/tenants/${slug}`);
    const deleted = await control.ask<Tenant & { changeId: string }>('DELETE', `/v1/tenants/${slug}`, { ifMatch: etag });
    await control.untilPublished(deleted.body.changeId);
    for (const url of platform.echoUrls) {
      await until('the end of the key', 2000, async () => {
        const answer = await peek(url, key);
        if (answer.status !== 401) expect(limitNames(answer)).toBe(FALLBACK);
        return answer.status === 401;
      });
    }
    expect((await control.try('GET', `/v1/tenants/${slug}`)).status).toBe(404);
  });
});

/** Limits of the tier `anonymous`, which the setting names at first. */
const FALLBACK = 'global-per-second per-address';
const limitNames = (answer: Answer): string => limitItems(answer, 'RateLimit-Policy').map(({ name }) => name).join(' ');

/**
 * A key that stands for a tenant which no control plane knows. Echo's own keys all come from the platform, so this one is written where guards
 * look: it stands for a service whose identity resolver names a tenant by itself.
 */
async function keyOfNobody(): Promise<string> {
  const key = `demo-${freshSlug('nobody')}`;
  const { redisUrl } = JSON.parse(await readFile(join(platform.dataDir, 'run.json'), 'utf8')) as { redisUrl: string };
  const redis = new Redis(redisUrl);
  const record: KeyRecord = { tenant: freshSlug('nobody'), keyId: randomUUID(), userId: null, kind: 'customer' };
  await redis.set(`qp:key:${createHash('sha256').update(key).digest('hex')}`, JSON.stringify(record));
  await redis.quit();
  return key;
}
