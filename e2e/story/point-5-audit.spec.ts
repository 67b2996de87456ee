import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEntry, ChangeReceipts, Override, WhoAmI } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { ControlPlane } from './rig/control-plane';
import { control, platform } from './rig/story';

const TENANT = 'juniper';
const entries = async (query: string): Promise<AuditEntry[]> => (await control.get<{ items: AuditEntry[] }>(`/v1/audit?tenant=${TENANT}&limit=200${query}`)).items;
const without = (override: Override & { changeId?: string }): Omit<Override, never> => {
  const { changeId: _, ...rest } = override;
  return rest;
};

describe('point 5: the audit says who raised what, when, why, before and after', () => {
  it('has one entry for each step, from the change\'s own transaction', async () => {
    const beganAt = Date.now();
    const raised = await control.raise(TENANT, { limits: { 'per-minute': { burst: 300 } } }, { ticket: 'OPS-42', reason: 'trade fair in Hanover', until: new Date(beganAt + 3_600_000).toISOString() });
    const edited = await control.ask<Override & { changeId: string }>('PATCH', `/v1/overrides/${raised.id}`, {
      ifMatch: `"${raised.version}"`, body: { set: { limits: { 'per-minute': { burst: 400 } } }, reason: 'more visitors than planned' },
    });
    const reverted = await control.post<Override>(`/v1/overrides/${raised.id}/revert`, { reason: 'the fair is over' });
    const endedAt = Date.now();

    const found = await entries('');
    const of = (changeId: string): AuditEntry => {
      const own = found.filter((entry) => entry.changeId === changeId);
      expect(own).toHaveLength(1);
      return own[0] as AuditEntry;
    };
    const [first, second, third] = [of(raised.changeId), of(edited.body.changeId), of(reverted.changeId)];
    expect(first).toMatchObject({
      actor: { kind: 'token' }, action: 'override.create', entity: { type: 'override', id: raised.id }, tenant: TENANT, chain: TENANT,
      reason: 'trade fair in Hanover', ticket: 'OPS-42', before: null,
    });
    expect(first.after).toMatchObject({ set: { limits: { 'per-minute': { burst: 300 } } }, until: raised.until, reason: 'trade fair in Hanover' });
    expect(second).toMatchObject({ action: 'override.update', reason: 'more visitors than planned', before: { set: { limits: { 'per-minute': { burst: 300 } } } }, after: { set: { limits: { 'per-minute': { burst: 400 } } } } });
    expect(second.after).toMatchObject(JSON.parse(JSON.stringify(without(edited.body))) as object);
    expect(third).toMatchObject({ reason: 'the fair is over', before: { state: 'active' }, after: { state: 'reverted' } });
    for (const entry of [first, second, third]) {
      expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(beganAt - 1);
      expect(Date.parse(entry.at)).toBeLessThanOrEqual(endedAt + 1);
    }
    // One instant for both, for one transaction wrote them.
    const receipts = await control.get<ChangeReceipts>(`/v1/changes/${raised.changeId}`);
    expect(receipts.committedAt).toBe(first.at);
  });

  it('names the operator who was signed in, by the password that the start has shown', async () => {
    const password = (await readFile(join(platform.dataDir, 'secrets/admin-password'), 'utf8')).trim();
    const operator = await ControlPlane.signedIn(platform.apiUrl, 'admin@example.com', password);
    const me = await operator.get<WhoAmI>('/v1/auth/me');
    const raised = await operator.raise(TENANT, { limits: { 'per-minute': { burst: 300 } } });
    const reverted = await operator.post<Override>(`/v1/overrides/${raised.id}/revert`, { reason: 'end of the story' });
    const found = await entries('');
    for (const { changeId } of [raised, reverted]) {
      expect(found.find((entry) => entry.changeId === changeId)?.actor).toEqual({ kind: 'operator', id: me.id, name: me.name });
    }
  });

  it('has no entry for what was refused', async () => {
    const before = (await entries('')).map(({ id }) => id);
    const refused: [status: number, body: unknown][] = [
      [422, { tenant: TENANT, set: { limits: { 'no-such-limit': { burst: 5 } } }, reason: 'this limit does not exist' }],
      [422, { tenant: TENANT, set: { limits: { 'per-minute': { burst: 1.5 } } }, reason: 'half a call' }],
      [422, { tenant: TENANT, set: { limits: { 'per-minute': { burst: 5 } } } }],
      [422, { tenant: TENANT, set: { limits: { 'per-minute': { burst: 5 } } }, reason: 'an unknown field', colour: 'red' }],
    ];
    for (const [status, body] of refused) {
      const reply = await control.try<{ errors: { pointer: string }[] }>('POST', '/v1/overrides', { body });
      expect(reply.status).toBe(status);
      expect(reply.body.errors[0]?.pointer).toMatch(/^\//);
    }
    expect((await entries('')).map(({ id }) => id)).toEqual(before);
  });

  it('proves that no chain was touched', async () => {
    const verification = await control.get<{ verified: boolean; chains: number; entries: number; faults: unknown[] }>('/v1/audit/verify');
    expect(verification).toMatchObject({ verified: true, faults: [] });
    expect(verification.entries).toBeGreaterThan(5);
    expect(verification.chains).toBeGreaterThan(1);
  });
});
