import type { NodeDirectory } from '@quotaplane/policy';
import type { Admission, Charge, ChargeState, LimitStore } from '@quotaplane/rate-limit';
import type { Call } from '../decide/call';
import type { CallPlan } from '../decide/call-plan';
import { sharedCharge } from '../decide/charge-kinds';
import type { Applied } from '../decide/charges';
import type { SlotLedger } from '../decide/slot-ledger';
import { LocalQuota } from './local-quota';
import type { QuotaMemory } from './quota-memory';

export interface LocalShareParts {
  /** Counts this node's own calls; never leaves the process. */
  readonly store: LimitStore;
  readonly slots: SlotLedger;
  readonly quotas: QuotaMemory;
  readonly directory: Pick<NodeDirectory, 'shareOf'>;
  readonly incarnation: string;
}

/** What this node's share says of a call: a state for everything that was asked, in its order. */
export interface LocalJudgement extends Admission {
  readonly isAllowed: boolean;
  /** Too much for this node's share, yet not for the limit itself: that is the outage's fault, not the caller's. */
  readonly isShareTooSmall: boolean;
  /** A slot was taken on the ledger. */
  readonly isSlotTaken: boolean;
}

/** The in-process store answers at once; the deadline is there for its interface. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;
/** A slot comes back whenever a call ends: a hint. */
const SLOT_HINT_MS = 1000;

type AppliedSlot = Extract<Applied, { kind: 'slot' }>;

/** Enforces this node's share of each limit, counted in its own memory: all shares together are the limit, never more. */
export class LocalShare {
  constructor(private readonly parts: LocalShareParts) {}

  /**
   * Whether a node alone has a say. Not in what bills, nor in a month of which the store never told it: the ledger settles those. A quota of 0 needs
   * no knowledge.
   */
  isJudged(one: Applied): boolean {
    if (one.kind !== 'quota' || one.charge.allowance === 0) return true;
    return one.charge.allowance !== null && one.charge.overage !== 'bill' && this.parts.quotas.isKnown(one.charge);
  }

  /**
   * @param applied only what {@link isJudged}
   * @returns undefined where the time is outside of the plan's segment
   */
  async judge(call: Call, plan: CallPlan, applied: readonly Applied[]): Promise<LocalJudgement | undefined> {
    const { store, slots } = this.parts;
    const quotas = applied.map((one) => this.quotaOf(one));
    const charges = applied.map((one) => this.localCharge(one, call));
    const slot = applied.find((one) => one.kind === 'slot');
    const mayPass = quotas.every((quota) => quota === undefined || quota.passes);
    // Taken before the wait, or calls that come at once would all find the last one free.
    const isSlotFree = slot !== undefined && slots.of(call.tenant) < this.shareOf(slot.charge.limit);
    const isSlotTaken = mayPass && isSlotFree;
    const slotState = slot && this.slotState(slot, call, isSlotFree, isSlotTaken);
    if (isSlotTaken) slots.take(call.tenant);
    const isAsked = mayPass && (slot === undefined || isSlotTaken);
    if (isAsked) for (const quota of quotas) quota?.take();
    const { fromMs, untilMs } = plan.segment;
    const own = charges.flatMap((charge, index) => storeChargesOf(charge, quotas[index]));
    const check = { tenant: call.tenant, knownHead: '', fromMs, untilMs, subjectFields: [], charges: own };
    const verdict = await (isAsked ? store.judgeAndSpend(check, NO_DEADLINE) : store.peek(check, NO_DEADLINE));
    const isAllowed = verdict.status === 'allowed' && isAsked;
    if (isSlotTaken && !isAllowed) slots.giveBack(call.tenant);
    if (isAsked && !isAllowed) for (const quota of quotas) quota?.giveBack();
    if (!('states' in verdict)) return undefined;
    const asked = verdict.states.values();
    const states = applied.map(({ kind }, index) => {
      const quota = quotas[index];
      if (quota !== undefined) return quota.stateAt(verdict.nowMs, isAllowed, quota.lane && asked.next().value);
      return (kind === 'slot' ? slotState : asked.next().value) ?? NOTHING_LEFT;
    });
    const isSmall = !isAllowed && (isShareTooSmall(call, applied, charges) || quotas.some((quota) => quota?.isShareTooSmall === true));
    return { isAllowed, isSlotTaken: isSlotTaken && isAllowed, states, nowMs: verdict.nowMs, isShareTooSmall: isSmall };
  }

  /** Undefined for what this node's store judges. */
  private quotaOf(one: Applied): LocalQuota | undefined {
    if (one.kind !== 'quota' || one.charge.allowance === 0) return undefined;
    return new LocalQuota(one.charge, this.parts.quotas, (units) => this.shareOf(units));
  }

  private shareOf(units: number): number {
    return this.parts.directory.shareOf(units, this.parts.incarnation);
  }

  private localCharge(one: Applied, call: Call): Charge {
    if (one.kind === 'rate') return sharedCharge(one.rate, one.counted, call.cost, (units) => this.shareOf(units));
    return one.kind === 'slot' ? { ...one.charge, limit: this.shareOf(one.charge.limit) } : one.charge;
  }

  private slotState({ charge }: AppliedSlot, { tenant }: Call, isFree: boolean, isTaken: boolean): ChargeState {
    const inUse = this.parts.slots.of(tenant) + (isTaken ? 1 : 0);
    const remaining = Math.max(0, this.shareOf(charge.limit) - inUse);
    const moreAfterMs = inUse === 0 ? 0 : SLOT_HINT_MS;
    return { remaining, resetAfterMs: moreAfterMs, moreAfterMs, retryAfterMs: isFree ? 0 : SLOT_HINT_MS };
  }
}

const NOTHING_LEFT: ChargeState = { remaining: 0, resetAfterMs: 0, moreAfterMs: 0, retryAfterMs: 0 };

function storeChargesOf(charge: Charge, quota: LocalQuota | undefined): Charge[] {
  if (quota !== undefined) return quota.lane ? [quota.lane] : [];
  return charge.kind === 'slot' ? [] : [charge];
}

function isShareTooSmall(call: Call, applied: readonly Applied[], charges: readonly Charge[]): boolean {
  let isSmall = false;
  for (const [index, one] of applied.entries()) {
    const charge = charges[index];
    if (charge === undefined) continue;
    if (one.kind === 'slot' && charge.kind === 'slot') isSmall ||= one.charge.limit > 0 && charge.limit === 0;
    if (one.kind !== 'rate' || charge.kind === 'slot' || charge.kind === 'quota' || charge.kind === 'retry' || one.rate.capacity === 0) continue;
    if (call.cost > one.rate.capacity) return false;
    const held = charge.kind === 'bucket' || charge.kind === 'queue' ? charge.capacity : charge.limit;
    if (held === 0 || call.cost > held) isSmall = true;
  }
  return isSmall;
}
