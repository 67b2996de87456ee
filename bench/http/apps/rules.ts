/** Limit of the small route, per user and day: what every contender has to hold to the unit. */
export const FEW = 100;
export const DAY_MS = 86_400_000;
export const MINUTE_MS = 60_000;
/** Limit of the plain route, per user and minute: judged on every call, never reached. */
export const PLENTY = 1_000_000_000;
/** Monthly quota of our tenant. Its headers show to the unit how many calls were counted. */
export const ALLOWANCE = 1_000_000_000_000;
export const USER_HEADER = 'x-user-id';

interface Headed {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** Whom the rivals count by. */
export const userOf = ({ headers }: Headed): string => String(headers?.[USER_HEADER]);
