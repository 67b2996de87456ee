import { BUCKET_ALGORITHMS, tierContentSchema, type TierContent } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { formatCount, formatWindow, parseWindow } from '../../../format/number';

/** A limit as it is typed: figures as text, so that an emptied field stays empty and windows read `1m`. */
export interface LimitDraft {
  readonly name: string;
  readonly algorithm: string;
  readonly scope: string;
  readonly limit: string;
  readonly window: string;
  readonly burst: string;
  readonly endpointClass: string;
}

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

const textOf = (units: number | null | undefined): string => (units === undefined ? '' : formatCount(units));

export const EMPTY_LIMIT: LimitDraft = {
  name: '',
  algorithm: 'token-bucket',
  scope: 'tenant',
  limit: '',
  window: '1m',
  burst: '',
  endpointClass: '',
};
export const EMPTY_QUOTA: DraftValues['quotas'][number] = {
  meter: 'requests',
  allowance: '',
  overage: 'reject',
  throttleLimit: '',
  throttleWindow: '1m',
};

export function toDraftValues(content: TierContent): DraftValues {
  return {
    limits: content.limits.map((limit) => ({
      name: limit.name,
      algorithm: limit.algorithm,
      scope: limit.scope,
      limit: textOf(limit.limit),
      window: formatWindow(limit.windowMs),
      burst: textOf(limit.burst),
      endpointClass: limit.endpointClass ?? '',
    })),
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
    limits: values.limits.map((typed) => {
      const before = base.limits.find(({ name }) => name === typed.name);
      const { burst: _burst, endpointClass: _class, ...kept } = before ?? {};
      return {
        ...kept,
        name: typed.name.trim(),
        algorithm: typed.algorithm,
        scope: typed.scope.trim(),
        limit: unitsOf(typed.limit),
        windowMs: parseWindow(typed.window) ?? Number.NaN,
        ...(typed.burst.trim() === '' || !isBucket(typed.algorithm) ? {} : { burst: unitsOf(typed.burst) }),
        ...(typed.endpointClass.trim() === '' ? {} : { endpointClass: typed.endpointClass.trim() }),
      };
    }),
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

export const isBucket = (algorithm: string): boolean => BUCKET_ALGORITHMS.some((each) => each === algorithm);

/** `1,000` to 1000, `unlimited` to null, anything else to NaN, which the contract refuses. */
export function unitsOf(text: string): number | null {
  const plain = text.trim().replaceAll(',', '').replaceAll('_', '');
  if (plain === 'unlimited') return null;
  return /^\d+$/.test(plain) ? Number(plain) : Number.NaN;
}

/** `1000000` to `1,000,000`; what is no figure stays as it was typed. */
export function groupUnits(text: string): string {
  const units = unitsOf(text);
  return units === null || Number.isNaN(units) ? text : formatCount(units);
}

const FIELD_OF: Readonly<Record<string, string>> = { windowMs: 'window' };

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
      const friendly = /NaN|expected number/i.test(message)
        ? path.at(-1) === 'windowMs'
          ? 'such as 1m, 30s, 1h'
          : 'whole units or unlimited'
        : message;
      setPath(errors, draftFieldOf(path), { type: 'contract', message: friendly });
    }
    return { values: {}, errors };
  };
}
