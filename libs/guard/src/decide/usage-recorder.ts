import type { Journal, OffenderLog, TrafficLog } from '@quotaplane/usage';
import { subjectOf, UNIDENTIFIED, type Call } from './call';
import { cellOf, type CallPlan } from './call-plan';
import type { GuardDecision } from './guard-decision';

const SUBJECT_MAX = 96;

/** Writes down what was used and who was denied; the ledger and the offenders page read it later. */
export class UsageRecorder {
  constructor(
    private readonly journal: Pick<Journal, 'admit' | 'admitDegraded'>,
    private readonly offenders: Pick<OffenderLog, 'record'>,
    private readonly traffic: Pick<TrafficLog, 'allowed' | 'denied'>,
  ) {}

  /** @param generation of the head that the store confirmed; undefined for callers that are not billed */
  admitted(call: Call, plan: CallPlan, generation: number | undefined): void {
    if (generation === undefined) return;
    this.journal.admit(cellOf(plan, call, plan.segment.period, generation), call.cost);
  }

  admittedDegraded(call: Call, plan: CallPlan, generation: number | undefined): void {
    if (generation === undefined) return;
    this.journal.admitDegraded(cellOf(plan, call, plan.segment.period, generation), call.cost);
  }

  /** Statistics of a decision that stands, for charts and the offenders page. */
  decided(call: Call, decision: GuardDecision): void {
    if (call.tenant === UNIDENTIFIED) return;
    if (decision.outcome === 'allowed') return this.traffic.allowed(call.tenant, call.cost);
    const limit = decision.binding?.name ?? decision.code ?? 'none';
    this.traffic.denied(call.tenant, limit);
    const scope = decision.binding?.scope ?? 'tenant';
    const subject = subjectOf(call, scope) || call.tenant;
    this.offenders.record({ tenant: call.tenant, scope, subject: subject.slice(0, SUBJECT_MAX), limit, class: call.class.slug });
  }
}
