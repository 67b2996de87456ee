/** `npm run proofs:full`: the figures that the promises name; otherwise a few minutes of each. */
export const IS_FULL = process.env['QUOTAPLANE_FULL'] === '1';

/** A figure of the short form, and that of the full one. */
export const figure = (short: number, full: number): number => (IS_FULL ? full : short);
