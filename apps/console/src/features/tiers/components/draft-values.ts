import { tierContentSchema, type TierContent } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { formatCount, formatWindow, parseWindow } from '../../../format/number';
import { textOf, toLimit, toLimitDraft, unitsOf, type LimitDraft } from './limit-values';

export interface DraftValues {
  readonly limits: LimitDraft[];
  readonly quotas: {
    readonly meter: string;
    readonly allowance: string;
    readonly overage: string;
    readonly throttleLimit: string;
    readonly throttleWindow: string;
  }[];
  readonly concurrency: string;
  readonly degraded: string;
}

export const EMPTY_QUOTA: DraftValues['quotas'][number] = {
  meter: 'requests',
  allowance: '',
  overage: 'reject',
  throttleLimit: '',
  throttleWindow: '1m',
};

export function toDraftValues(content: TierContent): DraftValues {
  return {
    limits: content.limits.map(toLimitDraft),
    quotas: content.quotas.map(({ meter, allowance, overage, throttle }) => ({
      meter,
      allowance: textOf(allowance),
      overage,
      throttleLimit: textOf(throttle?.limit),
      throttleWindow: throttle ? formatWindow(throttle.windowMs) : '1m',
    })),
    concurrency: textOf(content.concurrency),
    degraded: content.degraded,
  };
}

/** What is typed, as the contract has it. Members that the form does not show are kept from the content it started with. */
export function toContent(values: DraftValues, base: TierContent): unknown {
  return {
    limits: values.limits.map((typed) => toLimit(typed, base)),
    quotas: values.quotas.map((typed) => ({
      meter: typed.meter.trim(),
      allowance: unitsOf(typed.allowance),
      overage: typed.overage,
      alertAt: base.quotas.find(({ meter }) => meter === typed.meter)?.alertAt ?? [],
      ...(typed.overage === 'throttle'
        ? { throttle: { limit: unitsOf(typed.throttleLimit), windowMs: parseWindow(typed.throttleWindow) ?? Number.NaN } }
        : {}),
    })),
    concurrency: values.concurrency.trim() === '' ? null : unitsOf(values.concurrency),
    degraded: values.degraded,
  };
}

/** `1000000` to `1,000,000`; what is no figure stays as it was typed. */
export function groupUnits(text: string): string {
  const units = unitsOf(text);
  return units === null || Number.isNaN(units) ? text : formatCount(units);
}

const FIELD_OF: Readonly<Record<string, string>> = {
  windowMs: 'window',
  maxWaitMs: 'maxWait',
  withinMs: 'within',
  banMs: 'ban',
  maxBanMs: 'maxBan',
  forgiveAfterMs: 'forgive',
};

/** Form field of a place in the content, `quotas.0.throttle.limit` to `quotas.0.throttleLimit`. */
export function draftFieldOf(path: readonly PropertyKey[]): string {
  const parts = path.map(String);
  const throttle = parts.indexOf('throttle');
  if (throttle !== -1) return [...parts.slice(0, throttle), parts[throttle + 1] === 'windowMs' ? 'throttleWindow' : 'throttleLimit'].join('.');
  return parts.map((part) => FIELD_OF[part] ?? part).join('.');
}

export function draftResolver(base: TierContent): Resolver<DraftValues, unknown, TierContent> {
  return (values) => {
    const parsed = tierContentSchema.safeParse(toContent(values, base));
    if (parsed.success) return { values: parsed.data, errors: {} };
    const errors: FieldErrors<DraftValues> = {};
    for (const { path, message } of parsed.error.issues) {
      const friendly = sentenceFor(String(path.at(-1)), message);
      setPath(errors, draftFieldOf(path), { type: 'contract', message: friendly });
    }
    return { values: {}, errors };
  };
}

/** Zod's own words as the form says them; what the contract says in words of its own stays. */
function sentenceFor(field: string, message: string): string {
  const isSpan = field.endsWith('Ms');
  if (/NaN|expected number, received/i.test(message)) return isSpan ? 'such as 1m, 30s, 1h' : 'whole units or unlimited';
  if (!/^Too (small|big)/.test(message)) return message;
  const bound = Number(/[<>]=?(\d+)/.exec(message)?.[1] ?? Number.NaN);
  const words = isSpan ? formatWindow(bound) : formatCount(bound);
  return Number.isNaN(bound) ? message : `${message.startsWith('Too small') ? 'at least' : 'at most'} ${words}`;
}
