import type { ChangeReceipts, Override } from '@quotaplane/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { call } from './rig/http-call';
import { limitOf } from './rig/limit-fields';
import { idleShare, percentile, until } from './rig/patience';
import { startEcho, type Echo } from './rig/platform';
import { bucketBounds, byStore, control, echoUrl, expectPasses, floodEcho, isMachineCalm, otherEchoUrl, passed, peek, PER_MINUTE, platform, untilUntouched } from './rig/story';

const HOBBY = 'demo-hobby';
const HOUR_MS = 3_600_000;
const RAISED = { limits: { 'per-minute': { burst: 60 } } };
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Ends what a test raised, also when it failed half-way. */
async function endOverrides(): Promise<void> {
  for (const state of ['active', 'scheduled']) {
    const { items } = await control.get<{ items: Override[] }>(`/v1/overrides?tenant=hobby&state=${state}&limit=200`);
    for (const { id } of items) await control.untilLive((await control.post<Override>(`/v1/overrides/${id}/revert`, { reason: 'end of the story' })).changeId);
  }
}

describe('point 2: a raise is enforced by every node, and ends by itself', () => {
  afterEach(endOverrides);

  it('is enforced by the next check on either echo process', async () => {
    await untilUntouched(echoUrl, HOBBY);
    const isCalm = await isMachineCalm();
    const before = await floodEcho([echoUrl, otherEchoUrl], HOBBY, 40, 8);
    expect(passed(byStore(before)).length).toBeLessThan(40);
    const { changeId } = await control.raise('hobby', RAISED, { until: inMs(HOUR_MS), ticket: 'OPS-1207' });
    await control.untilPublished(changeId);
    const [here, there] = await Promise.all([echoUrl, otherEchoUrl].map((url) => call(`${url}/echo`, { key: HOBBY })));
    expect([here, there].map((answer) => answer && [answer.status, limitOf(answer, PER_MINUTE).capacity])).toEqual([[200, 60], [200, 60]]);
    // What was used stays used: the room grows by the difference, 40, and by nothing else.
    const after = await floodEcho([echoUrl, otherEchoUrl], HOBBY, 70, 8);
    const all = [...before, ...(here ? [here] : []), ...(there ? [there] : []), ...after];
    expectPasses(all, bucketBounds(all, { capacity: 60, limit: 100, windowMs: 60_000 }), isCalm);
  });

  it('is shown as live on 2 of 2 nodes, each raise of 100 within 300 ms (p99)', async () => {
    const idleBefore = await idleShare(1000);
    const { id, version, changeId } = await control.raise('hobby', RAISED, { until: inMs(HOUR_MS) });
    const receipts: ChangeReceipts[] = [await control.untilLive(changeId)];
    let etag = `"${version}"`;
    for (let burst = 61; receipts.length < 100; burst += 1) {
      const body = { set: { limits: { 'per-minute': { burst } } }, reason: 'one more for the launch' };
      const reply = await control.ask<Override & { changeId: string }>('PATCH', `/v1/overrides/${id}`, { ifMatch: etag, body });
      etag = reply.etag;
      receipts.push(await control.untilLive(reply.body.changeId));
    }
    const idleAfter = await idleShare(1000);
    expect(receipts.map(({ nodes }) => nodes)).toEqual(Array(100).fill({ live: 2, total: 2, lagging: [] }));
    const tookMs = receipts.map((one) => one.tookMs ?? Number.POSITIVE_INFINITY);
    const p99 = percentile(tookMs, 0.99);
    // A time promise holds for a machine that has the time: with others at work on it, the figure is reported and held loosely.
    const isCalm = Math.min(idleBefore, idleAfter) >= 0.5;
    console.log(`100 raises live on 2 of 2 nodes: p50 ${percentile(tookMs, 0.5)} ms, p99 ${p99} ms, max ${Math.max(...tookMs)} ms; machine ${Math.round(idleBefore * 100)} % idle before, ${Math.round(idleAfter * 100)} % after`);
    expect(p99).toBeLessThanOrEqual(isCalm ? 300 : 1000);
    expect(limitOf(await peek(otherEchoUrl, HOBBY), PER_MINUTE).capacity).toBe(159);
  });

  it('never loses one of two edits that race: one wins, the other is told', async () => {
    const { id, version } = await control.raise('hobby', RAISED, { until: inMs(HOUR_MS) });
    const edit = (burst: number, ifMatch?: string) =>
      control.try<Override & { code?: string }>('PATCH', `/v1/overrides/${id}`, {
        body: { set: { limits: { 'per-minute': { burst } } }, reason: `to ${burst}` },
        ...(ifMatch === undefined ? {} : { ifMatch }),
      });
    let etag = `"${version}"`;
    for (let round = 0; round < 20; round += 1) {
      const replies = await Promise.all([edit(100 + round, etag), edit(200 + round, etag)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 412]);
      expect(replies.find(({ status }) => status === 412)?.body.code).toBe('version_conflict');
      const winner = replies.find(({ status }) => status === 200);
      etag = winner?.etag ?? '';
      const { body } = await control.ask<Override>('GET', `/v1/overrides/${id}`);
      expect(body.set).toEqual(winner?.body.set);
    }
    const blind = await edit(300);
    expect([blind.status, blind.body.code]).toEqual([428, 'version_required']);
  });
});

describe('point 2: at its end instant a raise stops by itself, on every node', () => {
  let skewed: Echo;

  beforeAll(async () => {
    skewed = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir }, HOUR_MS);
  });
  afterAll(async () => void (await skewed?.stop()));
  afterEach(endOverrides);

  it('has a node whose clock is an hour ahead', async () => {
    await peek(skewed.url, HOBBY);
    const stamps = [...(await skewed.log()).matchAll(/"timestamp":(\d+)/g)].map(([, ms]) => Number(ms));
    expect(Math.max(...stamps)).toBeGreaterThan(Date.now() + HOUR_MS - 60_000);
  });

  it('begins and ends at its instants by the store\'s clock on all three nodes, with no change in between', async () => {
    const fromAt = Date.now() + 1500;
    const untilAt = fromAt + 2500;
    const { changeId, id } = await control.raise('hobby', RAISED, { from: new Date(fromAt).toISOString(), until: new Date(untilAt).toISOString() });
    await control.untilLive(changeId);
    expect(Date.now()).toBeLessThan(fromAt);
    const seen = { before: 0, during: 0, after: 0 };
    await Promise.all([echoUrl, otherEchoUrl, skewed.url].map(async (url) => {
      while (Date.now() < untilAt + 1000) {
        const answer = await peek(url, HOBBY);
        const { capacity } = limitOf(answer, PER_MINUTE);
        // Answers under way at an instant may lie on either side of it. Redis and this client read one clock.
        const phase = answer.receivedAt < fromAt - 1 || answer.sentAt > untilAt + 1 ? 20 : answer.sentAt > fromAt + 1 && answer.receivedAt < untilAt - 1 ? 60 : capacity;
        expect([url, answer.sentAt - untilAt, capacity]).toEqual([url, answer.sentAt - untilAt, phase]);
        seen[answer.receivedAt < fromAt ? 'before' : answer.sentAt > untilAt ? 'after' : 'during'] += 1;
      }
    }));
    expect(Math.min(seen.before, seen.during, seen.after)).toBeGreaterThan(3);
    const ended = await until('the state "ended"', 2000, async () => (await control.get<Override>(`/v1/overrides/${id}`)).state === 'ended');
    expect(ended).toBe(true);
    const { limits } = await control.policyOf('hobby');
    expect(limits[0]).toMatchObject({ name: 'per-minute', burst: 20 });
  });
});
