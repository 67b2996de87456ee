import type { Scope } from '@quotaplane/contracts';
import { admitted, type Check, type LimitStore, type Verdict } from '@quotaplane/rate-limit';
import type { Call } from './call';
import type { CallPlan, PlannedRate } from './call-plan';
import { rateCharge } from './charge-kinds';
import { counterOf } from './counter-names';

/** What a proposed limit would have said to a call. */
export interface ShadowDecision {
  readonly limit: string;
  readonly scope: Scope;
  readonly class: string;
  readonly result: 'allowed' | 'denied';
}

const REFUND_MS = 1000;

/**
 * Judges proposed limits beside the live ones: each alone, charged to its own counter, never denying anybody. Nobody waits for the answer, and where
 * the live check was out of date the proposed one is, too, and counts nothing.
 */
export class ShadowJudge {
  constructor(
    private readonly store: Pick<LimitStore, 'judgeAndSpend' | 'refund'>,
    private readonly onDecision: (decision: ShadowDecision) => void,
  ) {}

  /**
   * @param live the check of the same call; sent first, so that shadows never make it wait
   * @returns gives back what the proposed limits charged, for a call whose live units go back: they are compared with one another
   */
  judge(call: Call, { shadows }: CallPlan, live: Check, deadlineAtMs: number): () => void {
    const asked: Promise<void | (() => void)>[] = [];
    for (const rate of shadows) {
      const counted = counterOf(rate, call);
      if (!counted) continue;
      const { tenant, knownHead, fromMs, untilMs } = live;
      const check: Check = { tenant, knownHead, fromMs, untilMs, subjectFields: [], charges: [rateCharge(rate, counted, call.cost)] };
      asked.push(this.store.judgeAndSpend(check, deadlineAtMs).then((verdict) => {
        this.tell(rate, call, verdict);
        return verdict.status === 'allowed' ? () => this.refund(check, verdict) : undefined;
      }, () => undefined));
    }
    return () => {
      for (const one of asked) void one.then((refund) => refund?.());
    };
  }

  private refund(check: Check, admission: Extract<Verdict, { states: unknown }>): void {
    void this.store.refund(admitted(check.charges, admission), performance.now() + REFUND_MS).catch(() => false);
  }

  private tell({ limit: { name, scope } }: PlannedRate, call: Call, { status }: Verdict): void {
    if (status === 'allowed' || status === 'denied') this.onDecision({ limit: name, scope, class: call.class.slug, result: status });
  }
}
