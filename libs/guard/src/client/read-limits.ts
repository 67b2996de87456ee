import { parseList, type BareValue, type ListMember } from './structured-list';

/** One limit as an answer tells it. */
export interface LimitReading {
  readonly name: string;
  /** `q`: units in one window, or calls under way at once. */
  readonly limit?: number;
  /** `w` in ms; absent for calls under way. */
  readonly windowMs?: number;
  /** Most units at once: `qp-burst`, else the limit. */
  readonly burst?: number;
  readonly counts: 'units' | 'concurrent-requests';
  /** `r`: units available now; absent where the answer does not say, as for the limits that did not deny a denied call. */
  readonly remaining?: number;
  /** `t` in ms: until there are more than `remaining`. Whole seconds, rounded up. */
  readonly moreAfterMs?: number;
  /** `qp-cost`: what this call cost, or would have. */
  readonly cost?: number;
  /** `pk`, base64: equal where the same counter is meant. */
  readonly partition?: string;
}

/** The limit with the smallest share left, in the older three fields. */
export interface TightestReading {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfterMs: number;
}

export interface QuotaReading {
  readonly limits: readonly LimitReading[];
  readonly tightest?: TightestReading;
  /** ms that the answer asks to wait; absent where waiting is of no use or not asked for. */
  readonly retryAfterMs?: number;
  /** Only where the figures are not exact, because the counters could not be reached: `local`, `open`, `last-known`, `default`. */
  readonly source?: string;
}

export interface AnswerHeaders {
  get(name: string): string | null;
}

/** What an answer says of the caller's limits. Fields that are missing or malformed are left out; nothing throws. */
export function readLimits({ headers }: { readonly headers: AnswerHeaders }): QuotaReading {
  const states = new Map(parseList(headers.get('RateLimit')).map((member) => [nameOf(member), member]));
  const policies = new Map(parseList(headers.get('RateLimit-Policy')).map((member) => [nameOf(member), member]));
  const names = [...new Set([...policies.keys(), ...states.keys()])].filter((name) => name !== '');
  const [limit, remaining, reset] = [wholeOf(headers.get('RateLimit-Limit')), wholeOf(headers.get('RateLimit-Remaining')), wholeOf(headers.get('RateLimit-Reset'))];
  const retryAfterMs = retryAfterMsOf(headers);
  const source = headers.get('RateLimit-Source');
  return {
    limits: names.map((name) => readingOf(name, policies.get(name)?.parameters, states.get(name)?.parameters)),
    ...(limit === undefined || remaining === undefined || reset === undefined ? {} : { tightest: { limit, remaining, resetAfterMs: reset * 1000 } }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(source === null ? {} : { source }),
  };
}

type Parameters = ReadonlyMap<string, BareValue> | undefined;

function readingOf(name: string, policy: Parameters, state: Parameters): LimitReading {
  const [limit, windowSeconds, burst] = [numberOf(policy, 'q'), numberOf(policy, 'w'), numberOf(policy, 'qp-burst')];
  const [remaining, moreAfter, cost] = [numberOf(state, 'r'), numberOf(state, 't'), numberOf(state, 'qp-cost')];
  const partition = state?.get('pk');
  return {
    name,
    counts: policy?.get('qu') === 'concurrent-requests' ? 'concurrent-requests' : 'units',
    ...(limit === undefined ? {} : { limit, burst: burst ?? limit }),
    ...(windowSeconds === undefined ? {} : { windowMs: windowSeconds * 1000 }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(moreAfter === undefined ? {} : { moreAfterMs: moreAfter * 1000 }),
    ...(cost === undefined ? {} : { cost }),
    ...(typeof partition === 'string' ? { partition } : {}),
  };
}

const nameOf = ({ value }: ListMember): string => (typeof value === 'string' ? value : '');
const numberOf = (parameters: Parameters, key: string): number | undefined => {
  const value = parameters?.get(key);
  return typeof value === 'number' ? value : undefined;
};
const wholeOf = (text: string | null): number | undefined => (text !== null && /^\d{1,16}$/.test(text.trim()) ? Number(text) : undefined);

/** Seconds as guards send them, or the date that a proxy may send (RFC 9110, 10.2.3), held against the answer's own Date so that clocks need not agree. */
function retryAfterMsOf(headers: AnswerHeaders): number | undefined {
  const text = headers.get('Retry-After');
  const seconds = wholeOf(text);
  if (seconds !== undefined) return seconds * 1000;
  const atMs = Date.parse(text ?? '');
  if (Number.isNaN(atMs) || !/[a-z]/i.test(text ?? '')) return undefined;
  const sentAtMs = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, atMs - (Number.isNaN(sentAtMs) ? Date.now() : sentAtMs));
}
