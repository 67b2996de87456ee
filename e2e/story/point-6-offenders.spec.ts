import type { Offender } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { call } from './rig/http-call';
import { until } from './rig/patience';
import { control, denied, echoUrl, floodEcho, otherEchoUrl, platform } from './rig/story';

/** How soon the page must show a denial. */
const LIVE_MS = 3000;
const DAY_MS = 86_400_000;

const offenderOf = async (tenant: string): Promise<Offender | undefined> =>
  (await control.get<{ items: Offender[] }>('/v1/offenders?minutes=15&limit=200')).items.find((offender) => offender.tenant === tenant);

describe('point 6: the offenders page lists who was denied, live', () => {
  it('lists hobby within 3 s of its denial', async () => {
    const known = (await offenderOf('hobby'))?.denials ?? 0;
    const answers = await floodEcho([echoUrl, otherEchoUrl], 'demo-hobby', 40, 8);
    const denials = denied(answers).length;
    expect(denials).toBeGreaterThan(0);
    const offender = await until('hobby among the offenders', LIVE_MS, async () => {
      const found = await offenderOf('hobby');
      return found && found.denials >= known + denials && found;
    });
    expect(offender).toMatchObject({ tenant: 'hobby', tier: 'free', subject: { scope: 'tenant' } });
    expect(offender.limits.map(({ name }) => name)).toContain('per-minute');
    expect(Date.now() - Date.parse(offender.lastSeen)).toBeLessThan(10_000);
  });

  it('counts each denial of both echo processes once, and none that passed', async () => {
    const tier = await control.tier('offender', { limits: [{ name: 'per-day', algorithm: 'fixed-window', scope: 'tenant', limit: 5, windowMs: DAY_MS, alignment: 'first-hit', mode: 'enforce' }] });
    const { slug, key } = await control.tenant('offender', tier);
    const answers = await floodEcho([echoUrl, otherEchoUrl], key, 42, 8);
    expect(denied(answers)).toHaveLength(37);
    const offender = await until('all denials', LIVE_MS, async () => {
      const found = await offenderOf(slug);
      return found && found.denials >= 37 && found;
    });
    expect(offender).toMatchObject({ denials: 37, limits: [{ name: 'per-day', denials: 37 }], tier });
  });

  it('tells the console of a denial without being asked', async () => {
    const abort = new AbortController();
    const stream = await fetch(`${platform.apiUrl}/v1/events`, { headers: { authorization: `Bearer ${platform.token}` }, signal: abort.signal });
    expect([stream.status, stream.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/event-stream']);
    let heard = '';
    const listening = (async () => {
      for await (const piece of stream.body ?? []) heard += Buffer.from(piece as Uint8Array).toString();
    })().catch(() => undefined);
    try {
      await until('a denial of hobby', 10_000, async () => (await call(`${echoUrl}/echo`, { key: 'demo-hobby' })).status === 429, 1);
      await until('an event that names hobby', LIVE_MS, () => /hobby/.test(heard));
    } finally {
      abort.abort();
      await listening;
    }
  });
});
