import type { Algorithm, CompiledLimit } from '@quotaplane/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTERS, startGuardedApp, type GuardedApp } from './guarded-app';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

const ALGORITHMS: readonly Algorithm[] = ['token-bucket', 'gcra', 'leaky-bucket', 'fixed-window', 'sliding-log', 'sliding-counter'];
const CALLS = 100;

describe.each(ADAPTERS)('names of counters on %s', (adapter) => {
  let platform: SpecPlatform;
  const apps: GuardedApp[] = [];

  beforeAll(async () => {
    platform = await startPlatform();
    // As many settings as a service has that tell nothing of whom or what it counts.
    const settings = [{}, { legacyHeaders: true }, { docsUrl: 'https://example.com/limits' }, { cors: { expose: false }, legacyHeaders: true }, { service: 'another', version: '2' }];
    for (const setting of settings) apps.push(await startGuardedApp(adapter, { ...platform.options, ...setting }));
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await platform.stop();
  });

  const counters = async (tenant: string): Promise<string[]> => (await platform.client.keys(`qp:{${tenant}}:c:*`)).sort();
  const limitsOf = (limit: number): CompiledLimit[] =>
    ALGORITHMS.map((algorithm) => limitOf({
      name: `by-${algorithm}`, algorithm, limit, burst: algorithm === 'token-bucket' || algorithm === 'gcra' ? limit : null,
      // Calls wait their turn in a queue: one of an hour would let them wait for seconds.
      windowMs: algorithm === 'leaky-bucket' ? 1_000 : 3_600_000,
    }));
  const remainingOf = (answer: Response): number => Number(answer.headers.get('ratelimit-remaining'));

  // Mutation: put a setting of the service, such as its name or its header output, into the counter's name.
  it('C023 counts on the same keys whatever the settings of the service that asks', async () => {
    const key = await platform.tenantWith('c023', { limits: limitsOf(1_000) });
    const first = await apps[0]!.get('/echo', key);
    const names = await counters('c023');
    expect(names).toHaveLength(ALGORITHMS.length);
    let last = first;
    for (let call = 1; call < CALLS; call += 1) last = await apps[call % apps.length]!.get('/echo', key);
    expect(await counters('c023')).toEqual(names);
    expect(remainingOf(last)).toBe(1_000 - CALLS);
  });

  // Mutation: put the revision, the tier or a number of the limit into the counter's name.
  it('C023 counts on the same keys whatever an edit changes but the algorithm and the window', async () => {
    const key = await platform.tenantWith('c023-edits', { limits: limitsOf(1_000) });
    expect((await apps[0]!.get('/echo', key)).status).toBe(200);
    const names = await counters('c023-edits');
    for (const [at, limit] of [900, 1_100, 50, 1_000].entries()) {
      await platform.tenantWith('c023-edits', { revision: at + 2, limits: limitsOf(limit) });
      const answer = await apps[at % apps.length]!.get('/echo', key);
      expect(remainingOf(answer)).toBe(limit - at - 2);
      expect(await counters('c023-edits')).toEqual(names);
    }
  });
});
