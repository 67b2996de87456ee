import type { Admission } from '@quotaplane/rate-limit';
import type { JournalCell } from '@quotaplane/usage';
import { AdmissionDebt, type DebtParts } from './admission-debt';
import { subjectOf, type Call } from './call';
import { cellOf, type CallPlan } from './call-plan';
import type { Applied } from './charges';
import type { GuardDecision, Judgement } from './guard-decision';
import { HeldSlot } from './held-slot';
import type { Ban } from './penalty-log';
import { shownSubject } from './usage-recorder';

export interface KeeperParts extends DebtParts {
  /** Writes an admission into the journal; answers where a refund of it belongs. */
  readonly journal: (call: Call, plan: CallPlan, generation: number | undefined, units: number) => JournalCell | undefined;
  /** A slot's lease ran out while a call of this class held it. */
  readonly onSlotLost: (endpointClass: string) => void;
  readonly onBan: (ban: Ban, endpointClass: string) => void;
}

/** What not every admission has. */
export interface AdmissionExtras {
  /** Of a call that holds a slot of the store's; undefined where this process alone counts it, without a lease. */
  readonly held?: HeldSlot | undefined;
  /** Gives back what proposed limits charged to the same call. */
  readonly refundShadows?: (() => void) | undefined;
  /** The slot is on the ledger already. */
  readonly isSlotTaken?: boolean;
}
const NO_EXTRAS: AdmissionExtras = {};

/** What follows from a judgement of one store: the journal, what the admission owes at its call's end, bans that a denial began. */
export class AdmissionKeeper {
  constructor(private readonly parts: KeeperParts) {}

  /** For a call that holds a slot: what its lease is watched by. */
  slotFor(call: Call): HeldSlot {
    return new HeldSlot(() => this.parts.onSlotLost(call.class.slug));
  }

  /**
   * What is written down where the store may have counted a call that it did not answer.
   * @param generation of the head the call names; undefined for callers that are not billed
   * @returns undefined where no quota counts the call
   */
  doubtOf(call: Call, plan: CallPlan, generation: number | undefined): (() => void) | undefined {
    if (plan.quotas.length === 0 || generation === undefined || call.cost === 0) return undefined;
    const { doubt } = this.parts;
    const cell = cellOf(plan, call, plan.segment.period, generation);
    const { cost } = call;
    return () => doubt(cell, cost);
  }

  /**
   * @param generation of the head that the store confirmed; undefined for callers that are not billed
   * @returns the decision with what it owes; itself where that is nothing, so that plain calls pay nothing for this
   */
  admitted(decision: GuardDecision, judgement: Judgement, generation: number | undefined, extras: AdmissionExtras = NO_EXTRAS): GuardDecision {
    const { call, plan, applied } = judgement;
    const cell = this.parts.journal(call, plan, generation, decision.cost);
    const slot = call.holdsSlot === true ? applied.find((one) => one.kind === 'slot') : undefined;
    const { refundOn } = call.class;
    const isRefundable = refundOn !== undefined && refundOn.length > 0 && decision.cost > 0;
    const isWaiting = decision.waitMs !== undefined;
    if (slot === undefined && !isRefundable && !isWaiting) return decision;
    if (slot && extras.isSlotTaken !== true) this.parts.slots.take(call.tenant);
    const { held, refundShadows } = extras;
    const debt = new AdmissionDebt(this.parts, { call, applied, admission: judgement, decision, cell, slot, refundShadows });
    return {
      ...decision,
      release: debt.release,
      ...(isWaiting ? { withdraw: debt.withdraw } : {}),
      ...(held && slot ? { whenSlotLost: held.whenLost } : {}),
    };
  }

  /** A denial may have been the strike that bans its subject. */
  denied(call: Call, applied: readonly Applied[], { nowMs, states }: Admission): void {
    for (const [index, one] of applied.entries()) {
      const { bannedMs, banLevel } = states[index] ?? {};
      if (one.kind !== 'rate' || one.counted.penalty === undefined || banLevel === undefined || bannedMs === undefined) continue;
      const { name: limit, scope } = one.rate.limit;
      const subject = scope === 'tenant' ? (subjectOf(call, scope) ?? '') : shownSubject(call, scope);
      const ban: Ban = { tenant: call.tenant, limit, scope, subject, counter: one.counted.penalty.counter, startedMs: nowMs, untilMs: nowMs + bannedMs, level: banLevel };
      this.parts.onBan(ban, call.class.slug);
    }
  }
}
