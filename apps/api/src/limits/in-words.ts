import type { PublicLimit, Scope } from '@quotaplane/contracts';

const UNITS = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000], ['millisecond', 1]] as const;

/** A length of time, exactly: `1 minute`, `15 minutes`, `1 hour 30 minutes`. */
export function durationInWords(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    if (count > 0) parts.push(counted(count, unit));
  }
  return parts.length > 0 ? parts.join(' ') : '0 seconds';
}

/** `minute` for "100 per minute", `15 minutes` for "20 per 15 minutes". */
export const perWindow = (window: string): string => window.replace(/^1 (\w+)$/, '$1');

/** 1,000,000: grouped, whatever the machine's locale. */
export const figure = (units: number): string => units.toLocaleString('en-US');

export const counted = (count: number, noun: string): string => `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

/** Whom a limit counts. Callers without credentials have no account in common: each address counts alone. */
export function whoIsCounted(scope: Scope, audience: 'accounts' | 'anonymous'): string {
  switch (scope) {
    case 'global':
      return 'all callers together';
    case 'tenant':
      return audience === 'anonymous' ? 'each address' : 'your account as a whole';
    case 'user':
      return 'each user of your account';
    case 'key':
      return 'each API key';
    case 'ip':
      return 'each address';
    default:
      return `each ${scope.slice('subject:'.length)} that a call names`;
  }
}

/** What makes a limit special, one sentence each. */
export function particulars(limit: PublicLimit): string[] {
  const { endpointClass, methods, perRoute, alignment, maxQueue, maxWaitMs, penalty } = limit;
  return [
    ...(endpointClass === undefined ? [] : [`Only calls of the class ${endpointClass} count.`]),
    ...(methods === undefined ? [] : [`Only ${listed(methods)} count.`]),
    ...(perRoute ? ['Each route has a count of its own.'] : []),
    ...(limit.algorithm !== 'fixed-window' ? [] : [alignment === 'first-hit' ? 'The window opens with your first call.' : 'Windows begin on the clock, in UTC.']),
    ...(maxQueue === undefined ? [] : [`Up to ${counted(maxQueue, 'unit')} ${maxQueue === 1 ? 'waits its' : 'wait their'} turn, ${durationInWords(maxWaitMs ?? 0)} at most; the rest is refused.`]),
    ...(penalty === undefined ? [] : [penaltyInWords(penalty)]),
  ];
}

function penaltyInWords({ strikes, withinMs, banMs, factor, maxBanMs, forgiveAfterMs }: NonNullable<PublicLimit['penalty']>): string {
  const growth = factor > 1 ? `, each further ban ${factor} times as long, up to ${durationInWords(maxBanMs)}` : '';
  return `${counted(strikes, 'denial')} within ${durationInWords(withinMs)} ban the caller for ${durationInWords(banMs)}${growth}; ` +
    `${durationInWords(forgiveAfterMs)} without a ban and it is forgotten.`;
}
