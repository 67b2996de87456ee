import type { AdmittedCharge } from '../store';
import type { LimitRedis } from './connect-limit-redis';
import { encodeRefund, type ScriptArg } from './encoded-batch';
import { callScript } from './script-call';

/** How long a refund that nobody waits for may take. */
const UNAWAITED_REFUND_MS = 1_000;

/** One refund call for charges that may share one; slots have a road of their own. @returns whether the store took it in time */
export const refundTogether = async (redis: LimitRedis, charges: readonly AdmittedCharge[], nowArg: ScriptArg, deadlineAtMs: number): Promise<boolean> => {
  const units = charges.filter((charge) => charge.kind !== 'slot');
  if (units.length === 0) return true;
  if (redis.status !== 'ready') return false;
  const call = callScript(redis, 'refund', encodeRefund(units, nowArg)).then(() => true, () => false);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, false), Math.max(0, deadlineAtMs - performance.now()));
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
};

/** Refunds under way that no caller waits for. */
export class PendingRefunds {
  private readonly pending = new Set<Promise<boolean>>();

  constructor(private readonly refund: (charges: readonly AdmittedCharge[], deadlineAtMs: number) => Promise<boolean>) {}

  add(charges: readonly AdmittedCharge[]): void {
    const refund = this.refund(charges, performance.now() + UNAWAITED_REFUND_MS);
    this.pending.add(refund);
    void refund.finally(() => this.pending.delete(refund));
  }

  async settled(): Promise<void> {
    await Promise.all(this.pending);
  }
}
