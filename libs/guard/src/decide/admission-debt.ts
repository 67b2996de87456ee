import { admitted, type Admission, type AdmittedCharge, type LimitStore } from '@quotaplane/rate-limit';
import type { JournalCell } from '@quotaplane/usage';
import type { CallOutcome } from '../http/response-end';
import type { Call, CallClass } from './call';
import { chargesOf, type Applied } from './charges';
import type { GuardDecision } from './guard-decision';
import type { SlotLedger } from './slot-ledger';

/** Why units went back: what the answer was, or `gone` for a caller that left the queue before its turn. */
export type RefundReason = '4xx' | '5xx' | 'aborted' | 'gone';

export interface DebtParts {
  /** The store that admitted the call, which is not always the one that is there when it ends. */
  readonly store: Pick<LimitStore, 'refund' | 'release'>;
  readonly slots: SlotLedger;
  readonly refund: (cell: JournalCell, units: number) => void;
  /** The store may hold units that the journal does not. */
  readonly doubt: (cell: JournalCell, units: number) => void;
  /** Units of the tenant are on their way back, and told again when they are there: who was denied for want of them may pass. */
  readonly onGivingBack: (tenant: string) => void;
  readonly onRefund: (endpointClass: string, reason: RefundReason) => void;
}

/** One admission as it was made. */
export interface Admitted {
  readonly call: Call;
  readonly applied: readonly Applied[];
  readonly admission: Admission;
  readonly decision: GuardDecision;
  /** Where its units were journaled; undefined: nowhere, or where giving back would take from what others are billed. */
  readonly cell: JournalCell | undefined;
  readonly slot: Extract<Applied, { kind: 'slot' }> | undefined;
  readonly refundShadows: (() => void) | undefined;
}

/** A refund is a courtesy: nobody waits for it, so the store gets more time than a decision has. */
const REFUND_MS = 1000;

/**
 * What an admission owes when its call has ended: the slot it holds, and its units where its class gives them back by outcome. Settled once,
 * whatever is called and how often.
 */
export class AdmissionDebt {
  private isSettled = false;
  /** Monotonic instant of the call's turn in its queue. */
  private readonly turnAtMs: number;

  constructor(private readonly parts: DebtParts, private readonly admitted: Admitted) {
    this.turnAtMs = performance.now() + (admitted.decision.waitMs ?? 0);
  }

  readonly release = (outcome: CallOutcome): void => {
    if (!this.settle()) return;
    // The answer's end may be told before awaitTurn hears of it: a call that never had its turn costs nothing.
    const isEarly = outcome.isAborted && performance.now() < this.turnAtMs;
    const reason = isEarly ? 'gone' : refundReason(this.admitted.call.class, outcome);
    if (reason !== undefined) this.refund(reason);
  };

  readonly withdraw = (): void => {
    if (this.settle()) this.refund('gone');
  };

  private settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    const { call, slot } = this.admitted;
    if (slot) {
      this.parts.slots.giveBack(call.tenant);
      this.parts.store.release(slot.charge.counter, slot.charge.onLost);
    }
    return true;
  }

  private refund(reason: RefundReason): void {
    const { call, applied, admission, decision, cell, refundShadows } = this.admitted;
    const charges = admitted(chargesOf(applied), admission).filter(isUnits);
    if (charges.length > 0) void this.giveBack(charges);
    refundShadows?.();
    if (cell) this.parts.refund(cell, decision.cost);
    this.parts.onRefund(call.class.slug, reason);
  }

  private async giveBack(charges: readonly AdmittedCharge[]): Promise<void> {
    const { call, cell, decision } = this.admitted;
    this.parts.onGivingBack(call.tenant);
    const isTaken = await this.parts.store.refund(charges, performance.now() + REFUND_MS).catch(() => false);
    this.parts.onGivingBack(call.tenant);
    // The journal has given them back, the counter perhaps not: no proof that somebody used them.
    if (!isTaken && cell) this.parts.doubt(cell, decision.cost);
  }
}

const isUnits = (charge: AdmittedCharge): boolean => charge.kind !== 'slot';

/** An aborted call counts by what it would have answered, too: one that failed before its caller went away has failed. */
function refundReason({ refundOn = [] }: CallClass, { statusCode, isAborted }: CallOutcome): RefundReason | undefined {
  if (isAborted && refundOn.includes('aborted')) return 'aborted';
  const outcome = statusCode >= 500 ? '5xx' : statusCode >= 400 ? '4xx' : undefined;
  return outcome !== undefined && refundOn.includes(outcome) ? outcome : undefined;
}
