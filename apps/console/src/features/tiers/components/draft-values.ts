import { tierContentSchema, type TierContent } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { formatCount, formatWindow } from '../../../format/number';
import { textOf, toLimit, toLimitDraft, unitsOf, type LimitDraft } from './limit-values';
import { toQuota, toQuotaDraft, type QuotaDraft } from './quota-values';

export interface DraftValues {
  readonly limits: LimitDraft[];
  readonly quotas: QuotaDraft[];
  readonly concurrency: string;
  readonly degraded: string;
}

export function toDraftValues(content: TierContent): DraftValues {
  return {
    limits: content.limits.map(toLimitDraft),
    quotas: content.quotas.map(toQuotaDraft),
    concurrency: textOf(content.concurrency),
    degraded: content.degraded,
  };
}

/** What is typed, as the contract has it. Members that the form does not show are kept from the content it started with. */
export function toContent(values: DraftValues, base: TierContent): unknown {
  return {
    limits: values.limits.map((typed) => toLimit(typed, base)),
    quotas: values.quotas.map(toQuota),
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
  // A list of thresholds and a cap are one field each.
  const single = parts.findIndex((part) => part === 'alertAt' || part === 'carry');
  if (single !== -1) return parts.slice(0, single + 1).join('.');
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
      const friendly = sentenceFor(path.map(String), message);
      setPath(errors, draftFieldOf(path), { type: 'contract', message: friendly });
    }
    return { values: {}, errors };
  };
}

/** Zod's own words as the form says them; what the contract says in words of its own stays. */
function sentenceFor(path: readonly string[], message: string): string {
  const isSpan = path.at(-1)?.endsWith('Ms') ?? false;
  if (/NaN|expected number, received/i.test(message)) {
    if (path.includes('alertAt')) return 'percent, such as 80, 100';
    return isSpan ? 'such as 1m, 30s, 1h' : path.includes('carry') || path.includes('ceiling') ? 'whole units' : 'whole units or unlimited';
  }
  if (!/^Too (small|big)/.test(message)) return message;
  const bound = Number(/[<>]=?(\d+)/.exec(message)?.[1] ?? Number.NaN);
  const words = isSpan ? formatWindow(bound) : formatCount(bound);
  return Number.isNaN(bound) ? message : `${message.startsWith('Too small') ? 'at least' : 'at most'} ${words}`;
}
