/** What each fail mode means for callers while the store is away. */
export const FAIL_WORDS = { local: 'each node enforces its own share', open: 'requests pass', closed: 'requests get 503' } as const;
export const FAIL_TONES = { local: 'brand', open: 'warn', closed: 'bad' } as const;
/** Outcomes after which a class can give the units back. */
export const REFUND_WORDS = { '4xx': 'a 4xx answer', '5xx': 'a 5xx answer', aborted: 'a caller that went away' } as const;
