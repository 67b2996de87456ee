import { connected, checkOf } from '../rig/connected';
import { connectLimitRedis } from '../redis/connect-limit-redis';
import { createLimitStore } from '../redis/create-limit-store';
import type { Charge, Verdict } from '../store';
import type { HammerCount, HammerOrder } from './hammer-orders';

/** One node of the hammer (R2), a process of its own: does what its parent orders, all calls of an order under way at once. */
const store = createLimitStore(await connected(connectLimitRedis(process.argv[2] ?? '')));
/** Long enough for a machine on which eight of these wait for two processors. */
const PATIENCE_MS = 30_000;

const judge = (charges: readonly Charge[]): Promise<Verdict> => store.judgeAndSpend(checkOf(charges), performance.now() + PATIENCE_MS);

process.on('message', (order: HammerOrder) => {
  if (order.kind === 'once') void hammer(order).then((count) => process.send?.(count));
  else void forEver(order);
});
process.once('disconnect', () => process.exit());
process.send?.('ready');

async function hammer({ calls, charges }: Extract<HammerOrder, { kind: 'once' }>): Promise<HammerCount> {
  const verdicts = await Promise.all(Array.from({ length: calls }, () => judge(charges)));
  const count = (status: Verdict['status']): number => verdicts.filter((verdict) => verdict.status === status).length;
  return { allowed: count('allowed'), denied: count('denied'), others: verdicts.length - count('allowed') - count('denied') };
}

/** Until it is killed, in the middle of whatever it does. */
async function forEver({ lists }: Extract<HammerOrder, { kind: 'for-ever' }>): Promise<void> {
  for (let turn = 0; ; turn += 1) await Promise.all(lists.map((charges) => judge(charges)));
}
