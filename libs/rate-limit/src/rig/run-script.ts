import type { LimitRedis } from '../redis/connect-limit-redis';
import { decodeBatch } from '../redis/decoded-batch';
import { encodeBatch, encodeRefund } from '../redis/encoded-batch';
import { plainAnswers } from '../redis/plain-answers';
import { PlainBatch } from '../redis/plain-batch';
import { CheckBook } from '../redis/prepared-check';
import { callScript, callWritten } from '../redis/script-call';
import type { AdmittedCharge, Check, Verdict } from '../store';

/** Runs judge-and-spend.lua once over a batch at a chosen time, without a store. For specs. @param nowMs '' for store time */
export const runScript = async (redis: LimitRedis, checks: readonly Check[], nowMs: number | ''): Promise<Verdict[]> => {
  const batch = encodeBatch(checks, nowMs);
  return decodeBatch(checks, batch.entries, await callScript(redis, 'judge-and-spend', batch));
};

/** Runs judge-plain.lua once over plain checks of one head. For specs. @returns verdicts by check, and the order in which they were judged */
export const runPlain = async (redis: LimitRedis, checks: readonly Check[], nowMs: number | ''): Promise<{ verdicts: Verdict[]; order: number[] }> => {
  const batch = new PlainBatch(new CheckBook()).fill(checks, nowMs);
  const verdicts = plainAnswers(checks, batch, await callWritten(redis, 'judge-plain', batch)).map((answer): Verdict => {
    if (answer === 'stale') throw new TypeError('a spec asked for a head that is not current');
    return answer;
  });
  const order = Array.from({ length: batch.groupsFilled }, (_group, group) => checks.map((_, at) => at).filter((at) => batch.groupOf[at] === group)).flat();
  return { verdicts, order };
};

/** Runs refund.lua once; answers 1 or 0 a charge. For specs. */
export const runRefund = async (redis: LimitRedis, charges: readonly AdmittedCharge[], nowMs: number | ''): Promise<number[]> =>
  (await callScript(redis, 'refund', encodeRefund(charges, nowMs))) as number[];
