import { connectLimitRedis, counterKey, RedisLimitStore, type Charge, type Check } from '@quotaplane/rate-limit';
import { HEAD } from '../world';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, SUBJECTS, tenantOf, WINDOW_MS } from '../scenario';
import { ContenderError, type Ask, type Contender } from './contender';

const BUDGET_MS = 1_000;
const ENDLESS = { fromMs: 0, untilMs: 8_000_000_000_000 } as const;

interface Counted {
  readonly tenant: string;
  readonly limit: number;
  readonly windowMs: number;
}

/** The store of limits alone, with the checks made beforehand: what is left of a decision without the guard around it. */
export async function quotaplaneStore(redisUrl: string): Promise<Contender> {
  const redis = connectLimitRedis(redisUrl);
  await new Promise((resolve) => redis.once('ready', resolve));
  const store = new RedisLimitStore({ redis });
  const judge = (checkOf: (subject: number) => Check): Ask => async (subject) => {
    const verdict = await store.judgeAndSpend(checkOf(subject), performance.now() + BUDGET_MS);
    if (verdict.status !== 'allowed' && verdict.status !== 'denied') throw new ContenderError(`a verdict was ${verdict.status}`);
    return verdict.status === 'allowed';
  };
  const large = (tenant: string): Counted => ({ tenant, limit: LARGE_LIMIT, windowMs: WINDOW_MS });
  const many = Array.from({ length: SUBJECTS.many }, (_, subject) => checkOf(large(tenantOf.many(subject))));
  const hot = checkOf(large(tenantOf.hot));
  return {
    asks: {
      many: judge((subject) => many[subject] ?? hot),
      hot: judge(() => hot),
      exact: judge((subject) => checkOf({ tenant: tenantOf.exact(subject), limit: EXACT_LIMIT, windowMs: DAY_MS })),
    },
    close: async () => {
      await store.close();
      redis.disconnect();
    },
  };
}

/** A check as the guard makes it, with a counter of its own beside the guard's. */
function checkOf({ tenant, limit, windowMs }: Counted): Check {
  const counter = counterKey({ tenant, limit: 'store-alone', algorithm: 'token-bucket', windowMs, scope: 'tenant', subject: '' });
  const charge: Charge = { kind: 'bucket', counter, limit, windowMs, capacity: limit, cost: 1 };
  return { tenant, knownHead: HEAD, ...ENDLESS, subjectFields: [], charges: [charge] };
}
