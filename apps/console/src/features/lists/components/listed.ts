import type { ListEntry, ListEntryState, ListedSubject, ShownSubject, SubjectPenalty } from '@quotaplane/contracts';

export const LIST_NAMES = ['penalty', 'deny', 'allow'] as const;

/** An entry of any list as the console shows it. */
export interface Listed {
  readonly id: string;
  readonly list: (typeof LIST_NAMES)[number];
  readonly tenant: string | null;
  readonly subject: ShownSubject;
  readonly from: string;
  readonly until: string | null;
  readonly state: ListEntryState;
  readonly reason: string | null;
  readonly ticket: string | null;
  /** Null where a limit set it by itself. */
  readonly by: string | null;
  readonly liftedBy: string | null;
  /** Limit and number of bans in a row of an automatic penalty. */
  readonly ban: { readonly limit: string; readonly level: number } | null;
  readonly version: number;
}

export const entryOf = ({ createdBy, createdAt: _createdAt, ...entry }: ListEntry): Listed => ({ ...entry, by: createdBy, ban: null });

export const penaltyOf = ({ createdBy, createdAt: _createdAt, kind: _kind, limit, level, ...penalty }: SubjectPenalty): Listed => ({
  ...penalty,
  list: 'penalty',
  by: createdBy,
  ban: limit === null ? null : { limit, level: level ?? 1 },
});

/** A new entry before it is sent; `until` is compulsory for a penalty. */
export interface NewEntry {
  readonly list: Listed['list'];
  readonly tenant: string | null;
  readonly subject: ListedSubject;
  readonly reason: string;
  readonly ticket?: string | undefined;
  readonly until?: string | undefined;
}

/** State by the clock: an end that has passed shows at once, not at the next refresh. */
export function stateAt({ state, from, until }: Pick<Listed, 'state' | 'from' | 'until'>, nowMs: number): ListEntryState {
  if (state === 'lifted') return 'lifted';
  if (until !== null && Date.parse(until) <= nowMs) return 'ended';
  return Date.parse(from) > nowMs ? 'scheduled' : 'active';
}

export const SCOPE_WORDS: Readonly<Record<string, string>> = { tenant: 'tenant', key: 'key', user: 'user', ip: 'address', global: 'everyone' };

/** `address 192.0.2.0/24`, `user ann of acme`, `tenant acme`. */
export function listedWords({ tenant, subject: { scope, id } }: Pick<Listed, 'tenant' | 'subject'>): string {
  if (scope === 'tenant') return `tenant ${tenant ?? id ?? ''}`;
  return `${SCOPE_WORDS[scope] ?? scope} ${id ?? ''}${tenant === null ? '' : ` of ${tenant}`}`;
}

/** What an entry does to a caller, for the review and the empty page. */
export const LIST_EFFECTS: Readonly<Record<Listed['list'], string>> = {
  penalty: 'Every call is answered with 429 “penalised” until it ends, whatever is left of its limits.',
  deny: 'Every call is answered with 403 “blocked”. It goes before penalties and the allow list.',
  allow: 'No rate limit is asked for these calls; what they use still counts for the bill.',
};
