import { ERROR_CODES, GUARD_HEADERS, IDEMPOTENCY_KEY_HEADER, type Algorithm, type ErrorCode, type PublicDenial, type PublicLimits } from '@quotaplane/contracts';

/** How each algorithm counts, and its worst case in any window as a formula of the limit's own figures. */
export const ALGORITHMS_IN_WORDS: Readonly<Record<Algorithm, { readonly meaning: string; readonly worstCase: string }>> = {
  'token-bucket': { meaning: 'A bucket holds up to the burst. Each call takes its cost; the bucket fills evenly, by the limit in one window.', worstCase: 'burst + limit' },
  gcra: { meaning: 'The token bucket told by times instead of tokens: same figures, same answers.', worstCase: 'burst + limit' },
  'leaky-bucket': { meaning: 'A queue that lets calls through at an even pace. A call may be held for its turn; it is refused when the queue is full or the wait too long.', worstCase: 'limit for calls that cost 1; a call goes as a whole, so limit + cost - 1 for heavier ones' },
  'fixed-window': { meaning: 'A count that begins anew with each window.', worstCase: '2 x limit, around the moment of change (one less where your first call opens the window)' },
  'sliding-log': { meaning: 'Remembers every call of the last window and counts them exactly.', worstCase: 'limit' },
  'sliding-counter': { meaning: 'Counts this window and a share of the one before, as if that one had been even.', worstCase: 'less than 2 x limit, when the window before was not even' },
};

export const FIELDS: PublicLimits['fields'] = [
  { name: GUARD_HEADERS.policy, meaning: 'Every limit in force for the call, by name: q units per w seconds; qp-burst where more or fewer can be spent at once; qu="concurrent-requests" for calls under way. The same on every call until your limits change.' },
  { name: GUARD_HEADERS.state, meaning: 'The same names with r, the units available now, and t, the seconds until there are more; pk tells counters apart, qp-cost is what this call cost. On a denial only the limits that denied it.' },
  { name: GUARD_HEADERS.limit, meaning: 'The tightest limit: what Remaining is when nothing has been used.' },
  { name: GUARD_HEADERS.remaining, meaning: 'Units left of it.' },
  { name: GUARD_HEADERS.reset, meaning: 'Seconds (not a date) until nothing of it is used any more.' },
  { name: GUARD_HEADERS.retryAfter, meaning: 'On every 429 and 503: whole seconds to wait before sending again.' },
  { name: GUARD_HEADERS.source, meaning: 'Only where the figures are not the exact ones, because the counters could not be reached: local, open, last-known or default.' },
  { name: 'X-RateLimit-Limit, -Remaining, -Reset', meaning: 'Where a service sends them: the same three figures under their older names.' },
];

type Explained = Pick<PublicDenial, 'wait' | 'meaning'>;
/** Those that an answer can carry in this release; more come with what sends them. */
const DENIALS_IN_WORDS: Partial<Record<ErrorCode, Explained>> = {
  rate_limited: { wait: 'exact', meaning: 'A limit is used up. Wait as long as told, then send again.' },
  quota_exceeded: { wait: 'exact', meaning: 'The allowance of the period is used up. It begins anew with the next period.' },
  concurrency_exceeded: { wait: 'hint', meaning: 'Too many of your calls are under way. Let one finish first.' },
  penalised: { wait: 'exact', meaning: 'Banned for a while, for calling on past a limit.' },
  limiter_unavailable: { wait: 'hint', meaning: 'Limits cannot be checked just now, and this route does not go on without.' },
  cost_exceeds_limit: { wait: 'useless', meaning: 'The call costs more than the limit ever holds. Send less at once.' },
  blocked: { wait: 'useless', meaning: 'This caller is blocked. Ask support.' },
};

export const DENIALS: readonly PublicDenial[] = (Object.entries(DENIALS_IN_WORDS) as [ErrorCode, Explained][])
  .map(([code, { wait, meaning }]) => ({ code, status: ERROR_CODES[code].status, type: ERROR_CODES[code].type, wait, meaning }));

export const PERIOD: readonly string[] = [
  'A period is a calendar month in the time zone of your account, unless another day was agreed on which it begins.',
  'A period that begins on the 29th, 30th or 31st begins on the last day of a shorter month; the next one is on its own day again.',
  'Periods follow each other without a gap. Each is named by the local date on which it begins, such as 2026-12-01.',
  'Denied calls use nothing of an allowance.',
];

export const BACK_OFF: readonly string[] = [
  'Wait as many seconds as Retry-After says, never less. On a 429 that is exact: a client that is alone and waits so long passes.',
  'On a 503 add a random part of the wait, so that not everybody comes back at once. On a 429 add nothing.',
  `Send again only what can be sent twice: GET, HEAD, OPTIONS, PUT, DELETE, or anything with an ${IDEMPOTENCY_KEY_HEADER}.`,
  'Do not send again after 403 and 422: waiting cannot help.',
  'Better than waiting is not to be denied: slow down when r nears 0. It is never needed to probe, for every answer carries the figures.',
  'Several clients of one account share its limits: give each a part, or let one do the sending.',
];
