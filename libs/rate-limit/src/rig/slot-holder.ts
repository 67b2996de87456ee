import { connectLimitRedis } from '../redis/connect-limit-redis';
import { createLimitStore } from '../redis/create-limit-store';
import type { SlotCharge } from '../store';
import { checkOf, connected } from './connected';
import type { HeldTime, HolderOrder } from './slot-holders';

/** One process that holds slots, as its parent orders. Times are those of the machine's monotonic clock, one for all processes. For specs. */
const [url = '', leaseMs = ''] = process.argv.slice(2);
const store = createLimitStore(await connected(connectLimitRedis(url)), { leaseMs: Number(leaseMs) });

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Holds one slot for a while, until it is lost at most. @returns undefined where none was given */
const holdOne = async (counter: string, limit: number, forMs: number): Promise<HeldTime | undefined> => {
  let lostAtMs = Infinity;
  const onLost = (): void => {
    lostAtMs = nowMs();
  };
  const charge: SlotCharge = { kind: 'slot', counter, limit, isRegenerated: false, cost: 1, onLost };
  const verdict = await store.judgeAndSpend(checkOf([charge]), performance.now() + 25);
  if (verdict.status !== 'allowed') return undefined;
  const fromMs = nowMs();
  await sleep(forMs);
  const untilMs = Math.min(nowMs(), lostAtMs);
  store.release(counter, onLost);
  return { fromMs, untilMs, isLost: lostAtMs !== Infinity };
};

const work = async ({ counter, limit, forMs, inFlight, mostHoldMs }: HolderOrder): Promise<void> => {
  const endAtMs = nowMs() + forMs;
  const held: HeldTime[] = [];
  const worker = async (): Promise<void> => {
    while (nowMs() < endAtMs) {
      // One in twenty stays a hundred times as long, past a lease or two.
      const time = await holdOne(counter, limit, Math.random() * mostHoldMs * (Math.random() < 0.05 ? 100 : 1));
      if (time === undefined) await sleep(1 + Math.random() * 10);
      else held.push(time);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  process.send?.(held);
};

process.on('message', (order: HolderOrder) => void work(order));
process.once('disconnect', () => process.exit());
process.send?.('ready');
