import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { degradedAnswers } from './rig/degraded-totals';
import { call, type Answer } from './rig/http-call';
import { until } from './rig/patience';
import { byStore, control, echoUrl, passed, platform } from './rig/story';

/** `npm start` starts it again; then policies, heads and keys have 5 s to come back. */
const BACK_MAX_MS = 10_000;

it('point 7: a killed embedded Redis is started again without its data, and everything comes back by itself', async () => {
  const { slug, key } = await control.tenant('phoenix', 'pro');
  const answers: Answer[] = [];
  const hit = async (): Promise<Answer> => {
    const answer = await call(`${echoUrl}/echo`, { key });
    answers.push(answer);
    return answer;
  };
  const redisPid = async (): Promise<number> => {
    const { redisStamp } = JSON.parse(await readFile(join(platform.dataDir, 'run.json'), 'utf8')) as { redisStamp: string };
    return Number.parseInt(redisStamp, 10);
  };
  await until('a decision by the store', 2000, async () => byStore([await hit()]).length === 1);
  const pid = await redisPid();
  await rm(join(platform.dataDir, 'redis'), { recursive: true });
  process.kill(pid, 'SIGKILL');
  await until('a degraded decision', 2000, async () => degradedAnswers([await hit()]).length === 1);
  await until('a decision by the store of the new Redis', BACK_MAX_MS, async () => byStore([await hit()]).length === 1, 100);
  expect(await redisPid()).not.toBe(pid);

  const { changeId, id } = await control.raise(slug, { limits: { 'per-minute': { burst: 777 } } });
  expect((await control.untilLive(changeId)).nodes).toEqual({ live: 2, total: 2, lagging: [] });
  await control.post(`/v1/overrides/${id}/revert`, { reason: 'end of the story' });
  const expected = { admitted: String(passed(byStore(answers)).length), degraded: String(passed(degradedAnswers(answers)).length) };
  await until('the units of before, during and after', BACK_MAX_MS, async () => {
    const usage = await control.usageOf(slug);
    return usage?.breakdown.admitted === expected.admitted && usage.breakdown.degraded === expected.degraded;
  }, 100);
  await sleep(1000);
  expect((await control.usageOf(slug))?.breakdown).toMatchObject(expected);
});
