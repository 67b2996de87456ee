import type { Verdict } from '@quotaplane/rate-limit';
import { agedDenial } from './aged-denial';
import type { Call } from './call';
import type { CallShape } from './call-shape';
import type { GuardDecision } from './guard-decision';
import type { KnownPolicy } from './known-policy';
import type { ChargesQuestion } from './question';
import { sureForMs } from './sure-denial';

/** Longest time that a denial is answered from memory, in ms, counted from when its call was sent to the store. Published. */
export const DENIED_FOR_MS = 250;
/** A call that got no answer may still have been admitted, and is given back as soon as the store says so: no later than this, in ms. */
const LATE_REFUND_MS = 2000;
/** Tenants whose last refund is remembered; past it all memory of before that is given up. */
const TENANTS_MAX = 1000;

/** The store's word that calls of one shape are denied for now. Times are monotonic ms. */
export interface DeniedCall {
  readonly kind: 'denied';
  /** The head it was said under. */
  readonly current: KnownPolicy;
  /** When the call was sent: the store judged it then or later, so that it is never remembered longer than the store said. */
  readonly sentAtMs: number;
  readonly untilMs: number;
  /** When the answer came: waits are told from here, so that none is too short. */
  readonly heardAtMs: number;
  /** A limit of all tenants denied it, which a refund to any of them opens. */
  readonly isGlobal: boolean;
  readonly decision: GuardDecision;
  /** Whole ms since {@link heardAtMs} that {@link answer} is made for. */
  agedMs: number;
  answer: Promise<GuardDecision>;
}

/**
 * Answers calls that are surely denied without the store, for at most {@link DENIED_FOR_MS}: those alike in all that a limit looks at, under the head
 * they were denied under, until the first of them could pass or a figure of a limit that denies would change. A refund of this process to the tenant
 * opens it; one of another node counts when the time is over. Forgetting costs a call to the store and nothing else.
 * @see docs/adr/0018-denied-short-circuit.md
 */
export class DeniedCalls {
  private readonly openedAtMs = new Map<string, number>();
  private anyOpenedAtMs = Number.NEGATIVE_INFINITY;
  private allOpenedAtMs = Number.NEGATIVE_INFINITY;

  /** @param deniedForMs 0 to {@link DENIED_FOR_MS}; 0 remembers nothing. @param now monotonic ms */
  constructor(private readonly deniedForMs: number, private readonly now: () => number) {}

  /** @returns what is known of calls like this one at that instant; undefined: the store has to be asked */
  recall(shape: CallShape, { tenant }: Call, current: KnownPolicy, atMs: number): DeniedCall | undefined {
    const { denied } = shape;
    if (denied === undefined) return undefined;
    if (atMs >= denied.untilMs || denied.current !== current || this.isOpened(tenant, denied.sentAtMs, denied.isGlobal)) {
      shape.denied = undefined;
      return undefined;
    }
    const agedMs = Math.floor(atMs - denied.heardAtMs);
    if (agedMs !== denied.agedMs) {
      denied.agedMs = agedMs;
      denied.answer = Promise.resolve(agedDenial(denied.decision, agedMs));
    }
    return denied;
  }

  remember(call: Call, { plan, shape, current, sentAtMs }: ChargesQuestion, verdict: Extract<Verdict, { states: unknown }>, decision: GuardDecision): void {
    if (this.deniedForMs === 0) return;
    const sureMs = Math.min(this.deniedForMs, sureForMs(call, plan, shape.applied, verdict, decision));
    const isGlobal = decision.limits.some(({ isViolated, scope }) => isViolated && scope === 'global');
    if (sureMs <= 0 || this.isOpened(call.tenant, sentAtMs, isGlobal)) return;
    shape.denied = {
      kind: 'denied', current, sentAtMs, untilMs: sentAtMs + sureMs, heardAtMs: this.now(), isGlobal, decision, agedMs: 0, answer: Promise.resolve(decision),
    };
  }

  /** Units of the tenant come back: calls sent until now were denied for want of them. */
  open(tenant: string): void {
    this.openUntil(tenant, this.now());
  }

  /** A call of the tenant got no answer in time: what the store may have charged for it comes back at an instant nobody here knows. */
  openForLateRefund(tenant: string): void {
    if (this.deniedForMs > 0) this.openUntil(tenant, this.now() + LATE_REFUND_MS);
  }

  private openUntil(tenant: string, untilMs: number): void {
    this.anyOpenedAtMs = Math.max(this.anyOpenedAtMs, untilMs);
    if (this.openedAtMs.size >= TENANTS_MAX) {
      this.openedAtMs.clear();
      this.allOpenedAtMs = this.anyOpenedAtMs;
    }
    this.openedAtMs.set(tenant, Math.max(untilMs, this.openedAtMs.get(tenant) ?? untilMs));
  }

  private isOpened(tenant: string, sentAtMs: number, isGlobal: boolean): boolean {
    if (sentAtMs <= (isGlobal ? this.anyOpenedAtMs : this.allOpenedAtMs)) return true;
    if (this.openedAtMs.size === 0) return false;
    const openedAtMs = this.openedAtMs.get(tenant);
    return openedAtMs !== undefined && sentAtMs <= openedAtMs;
  }
}
