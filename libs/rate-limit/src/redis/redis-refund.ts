import type { AdmittedCharge } from '../store';
import type { LimitRedis } from './connect-limit-redis';
import { encodeRefund, type ScriptArg } from './encoded-batch';
import { callScript } from './script-call';

/** How long what nobody waits for any more may take: a refund, or the last calls of a store that closes. */
export const UNAWAITED_MS = 1_000;

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
  private readonly pending = new Set<Promise<void>>();

  constructor(private readonly refund: (charges: readonly AdmittedCharge[], deadlineAtMs: number) => Promise<boolean>) {}

  /** @param onFailure not taken for certain: the store may have the units still, or not */
  add(charges: readonly AdmittedCharge[], onFailure: () => void): void {
    const refund = this.refund(charges, performance.now() + UNAWAITED_MS).catch(() => false);
    const told = refund.then((isTaken) => {
      this.pending.delete(told);
      if (!isTaken) onFailure();
    });
    this.pending.add(told);
  }

  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }
}
