import type { Algorithm, Limit, Penalty } from '@quotaplane/contracts';
import { formatCount, formatWindow } from '../../../format/number';

/** What an algorithm does, in one line under its fields. */
export const ALGORITHM_WORDS: Readonly<Record<Algorithm, string>> = {
  'token-bucket': 'Refills steadily; a burst may be spent at once.',
  gcra: 'The same figures as a token bucket, told as a schedule.',
  'leaky-bucket': 'A queue: calls wait their turn and leave at an even pace, then are refused.',
  'fixed-window': 'Counts per window; up to twice the limit around its edge.',
  'sliding-log': 'Exact in every stretch of the window; keeps an entry a call, at most 10,000.',
  'sliding-counter': 'Two counters that stand for a sliding window, with a small stated error.',
};

/** What of a limit its row does not show, in words. */
export function extrasOf(limit: Pick<Limit, 'algorithm' | 'methods' | 'perRoute' | 'alignment' | 'maxQueue' | 'maxWaitMs' | 'penalty'>): string[] {
  return [
    ...(limit.methods === undefined ? [] : [limit.methods.join(', ')]),
    ...(limit.perRoute ? ['each route apart'] : []),
    ...(limit.alignment === 'first-hit' ? ['window from the first call'] : []),
    ...queueWords(limit),
    ...(limit.penalty === undefined ? [] : [penaltyWords(limit.penalty)]),
  ];
}

function queueWords({ maxQueue, maxWaitMs }: Pick<Limit, 'maxQueue' | 'maxWaitMs'>): string[] {
  const wait = maxWaitMs === undefined ? undefined : `up to ${maxWaitMs === 0 ? 'no time' : formatWindow(maxWaitMs)}`;
  if (maxQueue === undefined) return wait === undefined ? [] : [`waits ${wait}`];
  return [`${formatCount(maxQueue)} may wait${wait === undefined ? '' : `, ${wait}`}`];
}

export function penaltyWords({ strikes, withinMs, banMs, factor, maxBanMs }: Penalty): string {
  const growth = factor === 1 ? '' : `, × ${factor} up to ${formatWindow(maxBanMs)}`;
  return `penalty: ${formatCount(strikes)} denials in ${formatWindow(withinMs)} ban for ${formatWindow(banMs)}${growth}`;
}
