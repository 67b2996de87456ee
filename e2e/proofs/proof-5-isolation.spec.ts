import { describe, expect, it } from 'vitest';
import type { ApiKey, Limit } from '@quotaplane/contracts';
import { call, flood } from '../story/rig/http-call';
import { limitOf } from '../story/rig/limit-fields';
import { expectPasses, isMachineCalm } from '../story/rig/story';
import { balanced, control, echo, tenantOn } from './rig/fleet';
import { dayLimit } from './rig/limits';

describe.each([2, 4])('proof 5: nobody pays for another, %i nodes', (nodes) => {
  const fleet = balanced(nodes);
  const perKey: Limit = { ...dayLimit('token-bucket', 30), name: 'per-key', scope: 'key' };
  const perUser: Limit = { ...dayLimit('sliding-log', 20), name: 'per-user', scope: 'user' };

  it('a flooding key leaves the other keys of its tenant, and other tenants, alone', async () => {
    const { slug, key, tier } = await tenantOn('keys', { limits: [perKey] });
    const second = await control.post<ApiKey & { secret: string }>(`/v1/tenants/${slug}/keys`, { name: 'second' });
    await control.untilLive(second.changeId);
    const stranger = await control.tenant('stranger', tier);
    const isCalm = await isMachineCalm();
    const answers = await flood(200, 100, () => echo(fleet.url, key));
    expectPasses(answers, { least: 30, most: 30 }, isCalm);
    for (const other of [second.secret, stranger.key]) {
      const answer = await echo(fleet.url, other);
      expect([answer.status, limitOf(answer, 'per-key').remaining]).toEqual([200, 29]);
    }
  });

  it('users of one tenant have counters of their own, however they are called', async () => {
    const { key } = await tenantOn('users', { limits: [perUser] });
    const users = ['alice', 'Alice', 'alice:per-user', 'a/b', 'a%2Fb', '\u00fcser'.normalize('NFC')];
    for (const user of users) {
      const answers = await flood(30, 30, () => call(`${fleet.url}/echo`, { key, headers: { 'x-user-id': encodeURIComponent(user) } }));
      expectPasses(answers, { least: 20, most: 20 }, await isMachineCalm());
    }
  });
});
