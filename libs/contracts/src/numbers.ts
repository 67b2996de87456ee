import { z } from 'zod';

/** 2^53-1: the largest figure that TypeScript, JSON and Lua all carry exactly. Larger ones are refused at save. */
export const MAX_EXACT = Number.MAX_SAFE_INTEGER;

/** Longest window of a limit, 24 h in ms; a longer allowance is a quota. @see semantics: windows */
export const MAX_WINDOW_MS = 86_400_000;

/** Whole units, 0 to 2^53-1. */
export const exactInteger = z.int().min(0).max(MAX_EXACT);

/** Whole units, 0 to 2^53-1, or null for unlimited. */
export const allowance = exactInteger.nullable();

/** Length of a limit's window in ms, 1 to 86,400,000. */
export const windowMs = z
  .int()
  .min(1)
  .max(MAX_WINDOW_MS, 'a window is at most 86400000 ms (24 h); a longer allowance is a quota');

/** Caller-chosen name of a resource: `[a-z0-9-]{1,63}`. */
export const slug = z.string().regex(/^[a-z0-9-]{1,63}$/, 'must match [a-z0-9-]{1,63}');

/** 9999-12-31T23:59:59.999Z: a later instant has no RFC 3339 form. */
const LATEST_INSTANT_MS = 253_402_300_799_999;

/** RFC 3339 instant of the years 1970 to 9999 in UTC, which every store and clock here can keep; answers are always in UTC. */
export const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) <= LATEST_INSTANT_MS, 'must be in the years 1970 to 9999, in UTC');

/** A whole number of any size as text, so that no JSON reader rounds it. Ledger totals use it. */
export const decimalString = z.string().regex(/^-?\d+$/);

/** A local calendar date, `YYYY-MM-DD`: the id of a billing period is the date it starts on. */
export const localDate = z.iso.date();

/** Why a change was made; kept in the audit log. */
export const reason = z.string().trim().min(3).max(500);

/** Reference into the team's own ticket system. */
export const ticket = z.string().trim().min(1).max(100);
