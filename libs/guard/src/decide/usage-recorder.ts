import type { Journal, JournalCell, OffenderLog, RetryWatch, TrafficLog } from '@quotaplane/usage';
import { subjectOf, UNIDENTIFIED, type Call } from './call';
import { cellOf, type CallPlan } from './call-plan';
import { retryAfterSeconds } from '../http/ratelimit-fields';
import type { GuardDecision } from './guard-decision';

const SUBJECT_MAX = 96;

/** Whether clients wait as told, by store time. */
export interface RetryTimes {
  readonly watch: RetryWatch;
  readonly storeNow: () => number;
}

/** A subject as lists and statistics may show it: bounded, never empty. */
export const shownSubject = (call: Call, scope: Parameters<typeof subjectOf>[1]): string => {
  const subject = subjectOf(call, scope) || call.tenant;
  return subject.length > SUBJECT_MAX ? subject.slice(0, SUBJECT_MAX) : subject;
};

/** Writes down what was used and who was denied; the ledger and the offenders page read it later. */
export class UsageRecorder {
  private last: Pick<Call, 'tenant' | 'keyId' | 'userId' | 'address'> & { readonly slug: string; readonly name: string } = { tenant: '', address: '', slug: '', name: '' };

  constructor(
    private readonly journal: Pick<Journal, 'admit' | 'admitDegraded' | 'refund' | 'doubt'>,
    private readonly offenders: Pick<OffenderLog, 'record'>,
    private readonly traffic: Pick<TrafficLog, 'allowed' | 'denied'>,
    private readonly retries?: RetryTimes,
  ) {}

  /**
   * @param generation of the head that the store confirmed; undefined for callers that are not billed
   * @returns where a refund of the admission belongs
   */
  admitted(call: Call, plan: CallPlan, generation: number | undefined, units: number): JournalCell | undefined {
    if (generation === undefined) return undefined;
    const cell = cellOf(plan, call, plan.segment.period, generation);
    this.journal.admit(cell, units);
    return cell;
  }

  admittedDegraded(call: Call, plan: CallPlan, generation: number | undefined, units: number): void {
    if (generation !== undefined) this.journal.admitDegraded(cellOf(plan, call, plan.segment.period, generation), units);
  }

  /** Into the period of the admission, whenever the call ends. */
  refund(cell: JournalCell, units: number): void {
    this.journal.refund(cell, units);
  }

  /** The store may hold these units for a call that it did not answer, or after a refund that it did not confirm: never billed (M3). */
  doubted(cell: JournalCell, units: number): void {
    this.journal.doubt(cell, units);
  }

  /** Statistics of a decision that stands, for charts and the offenders page. */
  decided(call: Call, decision: GuardDecision): void {
    if (call.tenant === UNIDENTIFIED) return;
    if (decision.outcome === 'allowed') {
      if (this.retries?.watch.isWatching(call.tenant) === true) this.retries.watch.called(this.retrierOf(call), decision.nowMs ?? this.retries.storeNow());
      return this.traffic.allowed(call.tenant, decision.cost);
    }
    const { tenant, class: { slug } } = call;
    const limit = decision.binding?.name ?? decision.code ?? 'none';
    this.traffic.denied(tenant, limit);
    const scope = decision.binding?.scope ?? 'tenant';
    const subject = { tenant, scope, subject: shownSubject(call, scope), limit, class: slug };
    this.offenders.record(subject);
    if (!this.retries || decision.retryAfterMs === undefined) return;
    const deniedAtMs = decision.nowMs ?? this.retries.storeNow();
    this.retries.watch.denied(this.retrierOf(call), { subject, deniedAtMs, retryAfterMs: retryAfterSeconds(decision.retryAfterMs) * 1000 });
  }

  /** Who would come back for what: the most specific name of the caller, and the class, since nobody was told to keep away from others. */
  private retrierOf({ tenant, keyId, userId, address, class: { slug } }: Call): string {
    const { last } = this;
    // A flood is one caller again and again.
    if (last.userId === userId && last.keyId === keyId && last.address === address && last.slug === slug && last.tenant === tenant) return last.name;
    const name = `${tenant}/${slug}/${keyId ?? ''}/${userId ?? ''}/${keyId || userId ? '' : address}`;
    this.last = { tenant, keyId, userId, address, slug, name };
    return name;
  }
}
