import { MAX_EXACT } from '@quotaplane/contracts';
import { asBucket, asWindow, type CounterState } from '../models/judge-check';
import type { BucketState } from '../models/bucket';
import type { QuotaCount } from '../models/quota';
import type { WindowState } from '../models/window';

/** Stored text of a counter, read as the scripts read it: anything else is untouched. For specs. */
const figure = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= MAX_EXACT ? value : undefined;
};

const pairOf = (text: string | undefined): [number, number] | undefined => {
  const [left, right, ...more] = (text ?? '').split(':');
  const [amount, at] = [figure(left), figure(right)];
  return amount === undefined || at === undefined || more.length > 0 ? undefined : [amount, at];
};

export const bucketOf = (text: string | undefined): BucketState | undefined => {
  const pair = pairOf(text);
  return pair && { debt: pair[0], timeMs: pair[1] };
};

export const windowOf = (text: string | undefined): WindowState | undefined => {
  const pair = pairOf(text);
  return pair && { count: pair[0], startMs: pair[1] };
};

export const quotaOf = (text: string | undefined): QuotaCount | undefined => {
  const count = figure(text);
  return count === undefined ? undefined : { count };
};

export const textOf = (state: CounterState): string => {
  const [bucket, window] = [asBucket(state), asWindow(state)];
  if (bucket !== undefined) return `${bucket.debt}:${bucket.timeMs}`;
  if (window !== undefined) return `${window.count}:${window.startMs}`;
  return 'count' in state ? String(state.count) : '';
};
