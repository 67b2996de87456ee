/**
 * Decisions a second of the Redis store against the least that a script call can cost: EVALSHA of an empty script, one call a decision.
 * Slices are interleaved and compared within a round, so that other work on the machine hits all alike; figures are medians.
 *
 *   npx rolldown bench/decisions.ts --platform node --file /tmp/decisions.mjs && node -e "import('/tmp/decisions.mjs')"
 *
 * Imported, not run: scripts that the bundle carries along ask whether they are the program.
 */
import { redisKeys } from '@quotaplane/contracts';
import { connectLimitRedis, counterKey, quotaKeys, RedisLimitStore, type Charge, type Check } from '@quotaplane/rate-limit';
import { startRedis } from '@quotaplane/testing';

const KEYS = 10_000;
const WARM_UP_MS = 2_500;
const SLICE_MS = Number(process.env.SLICE_MS ?? 600);
const ROUNDS = Number(process.env.ROUNDS ?? 7);
const BUDGET_MS = 1_000;

const server = await startRedis();
const redis = connectLimitRedis(server.url);
await new Promise((resolve) => redis.once('ready', resolve));
await redis.set(redisKeys.head('t'), '7.1');
const emptySha = String(await redis.script('LOAD', 'return 0'));
const store = new RedisLimitStore({ redis });

const bucketOf = (limit: string, subject: string): Charge => ({
  kind: 'bucket', counter: counterKey({ tenant: 't', limit, algorithm: 'gcra', windowMs: 60_000, scope: 'user', subject }),
  limit: 1_000_000_000, windowMs: 60_000, capacity: 1_000_000_000, cost: 1,
});
const quota: Charge = {
  kind: 'quota', ...quotaKeys({ tenant: 't', meter: 'requests', periodId: '2026-12-01', part: 1, generation: 1 }), allowance: null, overage: 'reject',
  periodEndMs: Date.now() + 30 * 86_400_000, cost: 1,
};
const checkOf = (charges: Charge[]): Check => ({ tenant: 't', knownHead: '7.1', fromMs: 0, untilMs: 8_000_000_000_000, subjectFields: ['user:1'], charges });
const one = Array.from({ length: KEYS }, (_, at) => checkOf([bucketOf('per-minute', `user-${at}`)]));
const four = Array.from({ length: KEYS }, (_, at) => checkOf([bucketOf('second', `user-${at}`), bucketOf('minute', `user-${at}`), bucketOf('all', 'all'), quota]));

let turn = 0;
const judge = async (checks: readonly Check[]): Promise<void> => {
  const check = checks[(turn += 7_919) % KEYS];
  if (check === undefined) return;
  const verdict = await store.judgeAndSpend(check, performance.now() + BUDGET_MS);
  if (verdict.status !== 'allowed') throw new TypeError(`a benchmark decision was ${verdict.status}`);
};
const contenders: Record<string, () => Promise<unknown>> = {
  'empty script': () => redis.evalsha(emptySha, 1, 'qp:{t}:x'),
  'empty again (A/A)': () => redis.evalsha(emptySha, 1, 'qp:{t}:x'),
  'one limit': () => judge(one),
  'hot key': () => judge(one.slice(0, 1).concat(Array<Check>(KEYS - 1).fill(one[0] ?? checkOf([])))),
  'four scopes': () => judge(four),
};
const hot = Array.from({ length: KEYS }, () => one[0] ?? checkOf([]));
contenders['hot key'] = () => judge(hot);

interface Slice {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

/** Runs `decide` for a while with so many callers that each wait for their own answer. */
const slice = async (decide: () => Promise<unknown>, callers: number, forMs: number): Promise<Slice> => {
  const [startedAtMs, cpu] = [performance.now(), process.cpuUsage()];
  let decisions = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - startedAtMs < forMs) {
      await decide();
      decisions += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (decisions * 1_000) / (performance.now() - startedAtMs), cpuMicros: (user + system) / decisions };
};

const median = (figures: readonly number[]): number => [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? 0;

for (const callers of [1, 64, 256]) {
  const slices = new Map<string, Slice[]>(Object.keys(contenders).map((name) => [name, []]));
  for (const decide of Object.values(contenders)) await slice(decide, callers, WARM_UP_MS / 5);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, decide] of Object.entries(contenders)) slices.get(name)?.push(await slice(decide, callers, SLICE_MS));
  }
  const base = slices.get('empty script') ?? [];
  for (const [name, own] of slices) {
    const ratio = median(own.map(({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? 1)));
    const cpu = median(own.map(({ cpuMicros }) => cpuMicros));
    console.log(`${String(callers).padStart(3)} callers  ${name.padEnd(18)} ${Math.round(median(own.map((run) => run.perSecond))).toString().padStart(7)}/s  ratio ${ratio.toFixed(2)}  ${cpu.toFixed(1)} us of Node a decision`);
  }
}

await store.close();
redis.disconnect();
await server.stop();
