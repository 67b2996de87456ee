/** What each fail mode means for callers while the store is away. */
export const FAIL_WORDS = { local: 'each node enforces its own share', open: 'requests pass', closed: 'requests get 503' } as const;
export const FAIL_TONES = { local: 'brand', open: 'warn', closed: 'bad' } as const;
