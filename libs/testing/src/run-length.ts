/** `npm run proofs:full`: specs run the figures that the promises name; otherwise a short form of each. */
export const IS_FULL = process.env['QUOTAPLANE_FULL'] === '1';

/** A figure of a spec in its short form, and in its full one. */
export const figure = (short: number, full: number): number => (IS_FULL ? full : short);

/** Seed of a spec's random inputs; printed by it, and set by `QUOTAPLANE_SEED` to see a failure again. */
export const SEED = Number(process.env['QUOTAPLANE_SEED'] ?? Date.now() % 2_147_483_647);
