import type { LimitRedis } from '../redis/connect-limit-redis';
import { decodeBatch } from '../redis/decoded-batch';
import { encodeBatch, encodeRefund } from '../redis/encoded-batch';
import { callScript } from '../redis/script-call';
import type { AdmittedCharge, Check, Verdict } from '../store';

/** Runs judge-and-spend.lua once over a batch at a chosen time, without a store. For specs. @param nowMs '' for store time */
export const runScript = async (redis: LimitRedis, checks: readonly Check[], nowMs: number | ''): Promise<Verdict[]> => {
  const batch = encodeBatch(checks, nowMs);
  return decodeBatch(checks, batch.entries, await callScript(redis, 'judge-and-spend', batch));
};

/** Runs refund.lua once; answers 1 or 0 a charge. For specs. */
export const runRefund = async (redis: LimitRedis, charges: readonly AdmittedCharge[], nowMs: number | ''): Promise<number[]> =>
  (await callScript(redis, 'refund', encodeRefund(charges, nowMs))) as number[];
