import { BUCKET_ALGORITHMS, type Limit, type TierContent } from '@quotaplane/contracts';
import { formatCount, formatWindow, parseWindow } from '../../../format/number';

export interface PenaltyDraft {
  readonly strikes: string;
  readonly within: string;
  readonly ban: string;
  readonly factor: string;
  readonly maxBan: string;
  readonly forgive: string;
}

/** A limit as it is typed: figures as text, so that an emptied field stays empty and lengths of time read `1m`. */
export interface LimitDraft {
  readonly name: string;
  readonly algorithm: string;
  readonly scope: string;
  readonly limit: string;
  readonly window: string;
  readonly burst: string;
  readonly endpointClass: string;
  /** Empty: aligned to the wall clock. */
  readonly alignment: string;
  readonly maxQueue: string;
  readonly maxWait: string;
  /** Empty: all. */
  readonly methods: string[];
  readonly perRoute: boolean;
  readonly mode: string;
  readonly hasPenalty: boolean;
  readonly penalty: PenaltyDraft;
}

const PENALTY: PenaltyDraft = { strikes: '10', within: '1m', ban: '1m', factor: '2', maxBan: '1d', forgive: '1d' };

export const EMPTY_LIMIT: LimitDraft = {
  name: '',
  algorithm: 'token-bucket',
  scope: 'tenant',
  limit: '',
  window: '1m',
  burst: '',
  endpointClass: '',
  alignment: '',
  maxQueue: '',
  maxWait: '',
  methods: [],
  perRoute: false,
  mode: 'enforce',
  hasPenalty: false,
  penalty: PENALTY,
};

export const isBucket = (algorithm: string): boolean => BUCKET_ALGORITHMS.some((each) => each === algorithm);

export const textOf = (units: number | null | undefined): string => (units === undefined ? '' : formatCount(units));
const spanText = (ms: number | undefined): string => (ms === undefined ? '' : ms === 0 ? '0s' : formatWindow(ms));
const msOf = (text: string): number => parseWindow(text) ?? Number.NaN;

/** `1,000` to 1000, `unlimited` to null, anything else to NaN, which the contract refuses. */
export function unitsOf(text: string): number | null {
  const plain = text.trim().replaceAll(',', '').replaceAll('_', '');
  if (plain === 'unlimited') return null;
  return /^\d+$/.test(plain) ? Number(plain) : Number.NaN;
}

export function toLimitDraft(limit: Limit): LimitDraft {
  const { penalty } = limit;
  return {
    name: limit.name,
    algorithm: limit.algorithm,
    scope: limit.scope,
    limit: textOf(limit.limit),
    window: formatWindow(limit.windowMs),
    burst: textOf(limit.burst),
    endpointClass: limit.endpointClass ?? '',
    alignment: limit.alignment === 'first-hit' ? 'first-hit' : '',
    maxQueue: textOf(limit.maxQueue),
    maxWait: spanText(limit.maxWaitMs),
    methods: [...(limit.methods ?? [])],
    perRoute: limit.perRoute ?? false,
    mode: limit.mode,
    hasPenalty: penalty !== undefined,
    penalty: penalty
      ? {
          strikes: textOf(penalty.strikes),
          within: spanText(penalty.withinMs),
          ban: spanText(penalty.banMs),
          factor: textOf(penalty.factor),
          maxBan: spanText(penalty.maxBanMs),
          forgive: spanText(penalty.forgiveAfterMs),
        }
      : PENALTY,
  };
}

/** What is typed, as the contract has it; a field of another algorithm is left out, whatever stands in it. */
export function toLimit(typed: LimitDraft, base: TierContent): object {
  const before = base.limits.find(({ name }) => name === typed.name);
  const isQueue = typed.algorithm === 'leaky-bucket';
  const alignment = typed.alignment === '' ? before?.alignment === 'epoch' && 'epoch' : typed.alignment;
  return {
    name: typed.name.trim(),
    algorithm: typed.algorithm,
    scope: typed.scope.trim(),
    limit: unitsOf(typed.limit),
    windowMs: msOf(typed.window),
    ...(typed.burst.trim() === '' || !isBucket(typed.algorithm) ? {} : { burst: unitsOf(typed.burst) }),
    ...(typed.endpointClass.trim() === '' ? {} : { endpointClass: typed.endpointClass.trim() }),
    ...(typed.methods.length === 0 ? {} : { methods: typed.methods }),
    ...(typed.perRoute ? { perRoute: true } : {}),
    ...(alignment && typed.algorithm === 'fixed-window' ? { alignment } : {}),
    ...(isQueue && typed.maxQueue.trim() !== '' ? { maxQueue: unitsOf(typed.maxQueue) } : {}),
    ...(isQueue && typed.maxWait.trim() !== '' ? { maxWaitMs: msOf(typed.maxWait) } : {}),
    ...(typed.hasPenalty ? { penalty: toPenalty(typed.penalty) } : {}),
    mode: typed.mode,
  };
}

const toPenalty = (typed: PenaltyDraft): object => ({
  strikes: unitsOf(typed.strikes),
  withinMs: msOf(typed.within),
  banMs: msOf(typed.ban),
  factor: unitsOf(typed.factor),
  maxBanMs: msOf(typed.maxBan),
  forgiveAfterMs: msOf(typed.forgive),
});
