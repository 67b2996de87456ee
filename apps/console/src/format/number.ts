/** Whole units as they come over the wire: a number, a decimal string of any size, or null for unlimited. */
export type Units = number | string | null;

const grouped = new Intl.NumberFormat('en-US');

/** `1234567` to `1,234,567`, exact at any size; null to `unlimited`. */
export function formatCount(units: Units): string {
  if (units === null) return 'unlimited';
  return grouped.format(typeof units === 'string' ? BigInt(units) : units);
}

/** `1 subject`, `2,000 subjects`. */
export const plural = (count: number, word: string): string => `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

const SCALES = [
  ['B', 9],
  ['M', 6],
  ['K', 3],
] as const;

/** Three figures at most, `1.25M`; meant to stand beside its exact form on hover. Rounds down, so that 999,999 is never `1M`. */
export function formatShort(units: Units): string {
  if (units === null) return 'unlimited';
  const exact = BigInt(units);
  const size = exact < 0n ? -exact : exact;
  for (const [letter, power] of SCALES) {
    const unit = 10n ** BigInt(power);
    if (size < unit) continue;
    const hundredths = (size * 100n) / unit;
    const whole = hundredths / 100n;
    if (whole >= 1000n) return `${exact < 0n ? '-' : ''}${grouped.format(whole)}${letter}`;
    const digits = whole >= 100n ? 0 : whole >= 10n ? 1 : 2;
    const fraction = (hundredths % 100n).toString().padStart(2, '0').slice(0, digits).replace(/0+$/, '');
    return `${exact < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}${letter}`;
  }
  return exact.toString();
}

/** `6000` per `60000` ms to `6,000 per min`. */
export function formatRate(limit: Units, windowMs: number): string {
  return limit === null ? 'unlimited' : `${formatCount(limit)} per ${formatPer(windowMs)}`;
}

const WINDOWS = [
  ['day', 'd', 86_400_000],
  ['hour', 'h', 3_600_000],
  ['min', 'm', 60_000],
  ['s', 's', 1000],
] as const;

function formatPer(windowMs: number): string {
  const [word, , unit] = WINDOWS.find(([, , size]) => windowMs % size === 0) ?? ['ms', 'ms', 1];
  const amount = windowMs / unit;
  return amount === 1 ? word : `${amount} ${word}`;
}

/** `60000` to `1m`, the way windows are typed. */
export function formatWindow(windowMs: number): string {
  const [, letter, unit] = WINDOWS.find(([, , size]) => windowMs % size === 0) ?? ['ms', 'ms', 1];
  return `${windowMs / unit}${letter}`;
}

/** `1m`, `30s`, `500ms`, `2h` or `1d` to ms; undefined for anything else. */
export function parseWindow(text: string): number | undefined {
  const match = /^\s*(\d{1,9})\s*(ms|s|m|h|d)\s*$/.exec(text);
  if (!match) return undefined;
  const unit = WINDOWS.find(([, letter]) => letter === match[2])?.[2] ?? 1;
  return Number(match[1]) * unit;
}

/** Share of the allowance in percent with one decimal, rounded down; null without a finite allowance. */
export function percentOf(used: string | number, allowance: Units): number | null {
  if (allowance === null) return null;
  const whole = BigInt(allowance);
  if (whole === 0n) return BigInt(used) > 0n ? 100 : 0;
  return Number((BigInt(used) * 1000n) / whole) / 10;
}

/** `83.4%`; a use that is not zero never reads as `0%`. */
export function formatPercent(percent: number | null, isUsed = false): string {
  if (percent === null) return '–';
  if (percent === 0 && isUsed) return '<0.1%';
  return `${percent >= 10 ? Math.floor(percent) : percent}%`;
}
