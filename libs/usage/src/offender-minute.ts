import type { Scope } from '@quotaplane/contracts';
import { SpaceSaving } from './space-saving';

/** Whom a denial is counted to. `subject` is readable and bounded: a key id, a user id, an address; never a secret. */
export interface OffenderSubject {
  readonly tenant: string;
  readonly scope: Scope;
  readonly subject: string;
}

/** Who was denied, by which limit, on which endpoint class. */
export interface Denial extends OffenderSubject {
  readonly limit: string;
  readonly class: string;
}

/** One subject in a node's minute: `[tenant, scope, subject, count, error, lastSeenMs, [[limit, class, denials], ...]]`. */
export type SubjectEntry = readonly [string, Scope, string, number, number, number, readonly (readonly [string, string, number])[]];
/** Calls that came before the told instant, and calls that waited for it: `[tenant, scope, subject, early, waited]`. */
export type RetryEntry = readonly [string, Scope, string, number, number];

/** What a node has seen of one minute, whole: a later document of the same minute replaces it, so repeats are harmless. */
export interface OffenderDocument {
  /** Most denials that a subject which is not listed can have had in this minute on this node. */
  readonly floor: number;
  readonly subjects: readonly SubjectEntry[];
  readonly retries: readonly RetryEntry[];
}

/** Limits kept apart for one subject; further ones are in its count alone. */
const LIMITS_MAX = 16;

interface Detail {
  lastSeenMs: number;
  readonly limits: Map<string, number>;
}

/** Denials of one node in one minute in bounded memory. @see SpaceSaving for the error */
export class OffenderMinute {
  private readonly denials: SpaceSaving<Detail>;
  private readonly names = new NamesOfLast();
  private readonly retries = new Map<string, { early: number; waited: number }>();

  constructor(readonly minute: number, private readonly capacity: number) {
    this.denials = new SpaceSaving(capacity, () => ({ lastSeenMs: 0, limits: new Map() }));
  }

  /** Denials counted. */
  get total(): number {
    return this.denials.total;
  }

  denied(denial: Denial, atMs: number): void {
    const { detail } = this.denials.add(this.names.subjectOf(denial));
    detail.lastSeenMs = atMs;
    const pair = this.names.pairOf(denial);
    const known = detail.limits.get(pair);
    if (known !== undefined || detail.limits.size < LIMITS_MAX) detail.limits.set(pair, (known ?? 0) + 1);
  }

  /** @returns false where there is no room for one more subject */
  retried(subject: OffenderSubject, kind: 'early' | 'waited'): boolean {
    const key = this.names.subjectOf(subject);
    const known = this.retries.get(key);
    if (known === undefined && this.retries.size >= this.capacity) return false;
    const counts = known ?? { early: 0, waited: 0 };
    counts[kind] += 1;
    if (known === undefined) this.retries.set(key, counts);
    return true;
  }

  document(): OffenderDocument {
    return {
      floor: this.denials.floor,
      subjects: [...this.denials].map(({ key, count, error, detail }): SubjectEntry => [
        ...subjectOf(key), count, error, detail.lastSeenMs,
        [...detail.limits].map(([pair, denials]) => [...(JSON.parse(pair) as [string, string]), denials] as const),
      ]),
      retries: [...this.retries].map(([key, { early, waited }]): RetryEntry => [...subjectOf(key), early, waited]),
    };
  }
}

/** Keys of the last subject and of the last limit and class: a flood is one subject again and again, and making its keys costs more than counting it. */
class NamesOfLast {
  private last: OffenderSubject | undefined;
  private key = '';
  private limit: string | undefined;
  private className: string | undefined;
  private pair = '';

  subjectOf(one: OffenderSubject): string {
    const { last } = this;
    if (last?.subject === one.subject && last.tenant === one.tenant && last.scope === one.scope) return this.key;
    const { tenant, scope, subject } = one;
    this.last = { tenant, scope, subject };
    return (this.key = JSON.stringify([tenant, scope, subject]));
  }

  pairOf({ limit, class: className }: Denial): string {
    if (limit === this.limit && className === this.className) return this.pair;
    [this.limit, this.className] = [limit, className];
    return (this.pair = JSON.stringify([limit, className]));
  }
}

/** A key of this file read back. */
const subjectOf = (key: string): [string, Scope, string] => JSON.parse(key) as [string, Scope, string];
