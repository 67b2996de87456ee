import type { Quota } from '@quotaplane/contracts';
import { formatWindow, parseWindow } from '../../../format/number';
import { textOf, unitsOf } from './limit-values';

/** A quota as it is typed: figures as text, so that an emptied field stays empty. */
export interface QuotaDraft {
  readonly meter: string;
  readonly allowance: string;
  readonly overage: string;
  readonly throttleLimit: string;
  readonly throttleWindow: string;
  /** Empty: none. */
  readonly ceiling: string;
  /** Most units that go over into the next period; empty: none do. */
  readonly carry: string;
  /** Percent, separated by commas. */
  readonly alertAt: string;
}

export const EMPTY_QUOTA: QuotaDraft = {
  meter: 'requests',
  allowance: '',
  overage: 'reject',
  throttleLimit: '',
  throttleWindow: '1m',
  ceiling: '',
  carry: '',
  alertAt: '80, 100',
};

export const toQuotaDraft = ({ meter, allowance, overage, throttle, ceiling, carry, alertAt }: Quota): QuotaDraft => ({
  meter,
  allowance: textOf(allowance),
  overage,
  throttleLimit: textOf(throttle?.limit),
  throttleWindow: throttle ? formatWindow(throttle.windowMs) : '1m',
  ceiling: textOf(ceiling),
  carry: textOf(carry?.cap),
  alertAt: alertAt.join(', '),
});

/** What is typed, as the contract has it; a field that its overage does not know is left out. */
export const toQuota = (typed: QuotaDraft): unknown => ({
  meter: typed.meter.trim(),
  allowance: unitsOf(typed.allowance),
  overage: typed.overage,
  alertAt: percentsOf(typed.alertAt),
  ...(typed.overage === 'throttle'
    ? { throttle: { limit: unitsOf(typed.throttleLimit), windowMs: parseWindow(typed.throttleWindow) ?? Number.NaN } }
    : {}),
  ...(typed.overage === 'reject' || typed.ceiling.trim() === '' ? {} : { ceiling: unitsOf(typed.ceiling) }),
  ...(typed.carry.trim() === '' ? {} : { carry: { cap: unitsOf(typed.carry) } }),
});

/** `80, 100%` to [80, 100]; what is no figure becomes NaN, which the contract refuses. */
function percentsOf(text: string): number[] {
  return text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d{1,4}%?$/.test(part) ? Number.parseInt(part, 10) : Number.NaN));
}

/** What of a quota its row does not show, as short as it gets. */
export function quotaTags({ ceiling, carry, alertAt, overage }: QuotaDraft): string[] {
  return [
    ...(overage === 'reject' || ceiling === '' ? [] : [`refused past ${ceiling}`]),
    ...(carry === '' ? [] : [`carries up to ${carry} over`]),
    ...(alertAt === '' ? [] : [`alerts at ${alertAt.replaceAll('%', '')}%`]),
  ];
}
