import { figure } from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import { call, flood, headerOf, type Answer } from '../story/rig/http-call';
import { limitItems } from '../story/rig/limit-fields';
import { byStore, denied, expectPasses, isMachineCalm, passed } from '../story/rig/story';
import { balanced, echo, tenantOn } from './rig/fleet';
import { dayLimit, limitFor, RATE_ALGORITHMS } from './rig/limits';

const ROUNDS = figure(1, 10);
const UNITS = 120;

describe.each([2, 4])('proof 1: exactly the limit under limit + 50 in parallel, %i nodes', (nodes) => {
  const fleet = balanced(nodes);

  it.each(RATE_ALGORITHMS)('%s', async (algorithm) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { key } = await tenantOn(`exact-${algorithm}`, { limits: [dayLimit(algorithm, UNITS)] });
      const isCalm = await isMachineCalm();
      const answers = await flood(UNITS + 50, UNITS + 50, () => echo(fleet.url, key));
      expectPasses(answers, { least: UNITS, most: UNITS }, isCalm);
      // And a denial uses nothing: nobody gets in later either.
      expect(passed(await flood(10, 10, () => echo(fleet.url, key)))).toEqual([]);
    }
  });

  it('leaky-bucket: its queue takes what it may, and lets it go at a constant pace', async () => {
    const [paceMs, maxQueue] = [500, 9];
    const { key } = await tenantOn('exact-leaky', { limits: [limitFor('leaky-bucket', { limit: 20, windowMs: 20 * paceMs, maxQueue, maxWaitMs: 30_000 })] });
    const isCalm = await isMachineCalm();
    const answers = await flood(maxQueue + 51, maxQueue + 51, () => echo(fleet.url, key));
    const sentAt = answers.map((answer) => answer.sentAt);
    const decidedBy = Math.max(...denied(answers).map(({ receivedAt }) => receivedAt));
    expectPasses(answers, { least: maxQueue + 1, most: maxQueue + 1 + Math.floor((decidedBy - Math.min(...sentAt)) / paceMs) }, isCalm);
    // Never before its turn; a busy machine may deliver an answer later, but none earlier.
    const departures = passed(byStore(answers)).map(({ receivedAt }) => receivedAt).sort((one, other) => one - other);
    departures.forEach((at, turn) => expect(at - Math.min(...sentAt)).toBeGreaterThanOrEqual(turn * paceMs - 1));
  });

  it('concurrency: as many streams at once as there are slots, and as many again when they have ended', async () => {
    const { key } = await tenantOn('exact-slots', { limits: [], concurrency: 10 });
    const stream = (): Promise<Answer> => call(`${fleet.url}/stream?ms=1500`, { key });
    for (let round = 0; round < 2; round += 1) {
      const answers = await flood(60, 60, stream);
      expect(passed(answers)).toHaveLength(10);
      for (const denial of denied(answers)) {
        expect(JSON.parse(denial.body)).toMatchObject({ code: 'concurrency_exceeded', status: 429 });
        expect(Number(headerOf(denial, 'Retry-After'))).toBeGreaterThanOrEqual(1);
      }
      const [item] = limitItems(passed(answers)[0] ?? answers[0]!, 'RateLimit-Policy');
      expect([item?.name, item?.parameters.get('q'), item?.parameters.get('qu')]).toEqual(['in-flight', 10, 'concurrent-requests']);
    }
  });
});
